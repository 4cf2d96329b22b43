// Tells the time zone of the browser where an account begins: in an invitation, and when somebody signs in.
for (const field of document.querySelectorAll("input[name=timezone]"))
  field.value = Intl.DateTimeFormat().resolvedOptions().timeZone ?? "";
