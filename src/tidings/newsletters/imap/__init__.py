"""Mailboxes on IMAP servers, which are polled for letters."""
