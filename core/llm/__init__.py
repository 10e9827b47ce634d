"""Language models behind a port: host process, worker, templates."""
