"""Old unread entries: those that become read after some days, as their user says."""
