"""What API and pages share of HTTP: a request, finding its route, reading what it carries, sending the answer."""
