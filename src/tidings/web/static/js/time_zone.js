// Tells the form of a new account the time zone of the browser.
for (const field of document.querySelectorAll("input[name=timezone]"))
  field.value = Intl.DateTimeFormat().resolvedOptions().timeZone ?? "";
