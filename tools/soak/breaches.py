"""The measurements of a soak test, and the limits that they exceed."""

from __future__ import annotations

from dataclasses import dataclass, field

from loopback.processes import Usage
from loopback.readings import growth

# The allocator and caches take a while to fill; a leak grows further.
MAX_GROWTH = {"memory": 1.15, "descriptors": 1.15, "threads": 1.15}
# Workers of the service, all the time: one that is started on demand would look like growth.
WORKERS = "2"
MIB = 2**20


@dataclass
class Report:
    """samples: of the resources of the service, at equal distances."""

    lines: list[str] = field(default_factory=list)
    breaches: list[str] = field(default_factory=list)
    samples: list[Usage] = field(default_factory=list)

    def tell(self, name: str, value: object) -> None:
        self.lines.append(f"{name:<44}{value!s:>16}")

    def bound(self, name: str, value: float, maximum: float, unit: str = "") -> None:
        """Report a value that must not exceed `maximum`."""
        self.tell(f"{name} (at most {maximum:g}{unit})", f"{value:.3g}{unit}")
        if value > maximum:
            self.breaches.append(f"{name}: {value:.3g}{unit}, more than {maximum:g}{unit}")

    def usage(self, samples: list[Usage]) -> None:
        """Report memory, descriptors and threads in ten steps, and check their growth."""
        self.samples = samples
        self.lines.append(
            f"{'in the course of time':<24}{'memory':>12}{'descriptors':>12}{'threads':>10}{'processes':>10}"
        )
        for sample in samples[:: max(1, len(samples) // 10)]:
            memory = f"{sample.memory_bytes / MIB:.0f} MiB"
            self.lines.append(f"{'':<24}{memory:>12}{sample.descriptors:>12}{sample.threads:>10}{sample.processes:>10}")
        courses = {
            "memory": [sample.memory_bytes for sample in samples],
            "descriptors": [sample.descriptors for sample in samples],
            "threads": [sample.threads for sample in samples],
        }
        for name, values in courses.items():
            self.bound(f"growth of {name}", growth(values), MAX_GROWTH[name], " times")

    def text(self) -> str:
        return "\n".join([*self.lines, *(f"BREACH  {text}" for text in self.breaches)]) + "\n"
