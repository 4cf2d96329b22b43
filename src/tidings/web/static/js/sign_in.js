// Tells the time zone of the browser where an account begins: in an invitation, and when somebody signs in.
for (const field of document.querySelectorAll("input[name=timezone]"))
  field.value = Intl.DateTimeFormat().resolvedOptions().timeZone ?? "";

// Who has signed in in another tab needs to do so only there: the service leads on from here, too.
document.addEventListener("visibilitychange", async () => {
  if (document.hidden) return;
  const { type } = await fetch(location.href, { redirect: "manual" }).catch(() => ({}));
  if (type === "opaqueredirect") location.assign(location.href);
});
