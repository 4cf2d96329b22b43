"""The one place that joins all parts: settings become arguments, slices are registered, surfaces get their routes."""
