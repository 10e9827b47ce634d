"""Which addresses a download may go to: those of the catalogue, and hosts that it allows by name. Pure."""

from urllib.parse import urljoin, urlsplit

from core.catalogue.models import ModelEntry, is_loopback
from core.errors import DownloadError


def follow(url: str, location: str, entry: ModelEntry) -> str:
    """Return the address that a server sends a download on to; raise `DownloadError` if it may not."""
    try:
        target = urljoin(url, location)
        parts = urlsplit(target)
        host, source = parts.hostname or "", urlsplit(url)
    except ValueError:
        host, parts, source, target = "", urlsplit(""), urlsplit(url), ""
    if not location or not host:
        raise DownloadError(_refuse(entry, f"{source.hostname} sends it on to an address that cannot be read"))
    if parts.scheme != "https" and not (parts.scheme == source.scheme == "http" and is_loopback(host)):
        raise DownloadError(
            _refuse(entry, f"{source.hostname} sends it on to {host} without encryption ({parts.scheme}:)")
        )
    if host != entry.host and not any(_matches(host, allowed) for allowed in entry.redirects):
        raise DownloadError(
            _refuse(
                entry,
                f"{source.hostname} sends it on to {host}, which the list of models does not name. If you trust that "
                f"host, add it to the redirects of [{entry.id}] in your models.txt",
            )
        )
    return target


def _matches(host: str, allowed: str) -> bool:
    return host.endswith(allowed[1:]) and len(host) >= len(allowed) if allowed.startswith("*.") else host == allowed


def _refuse(entry: ModelEntry, reason: str) -> str:
    return (
        f"{entry.name} was not downloaded: {reason}. Nothing else was asked of the network; what came before is kept."
    )
