"""Rates and queues of one contracted flow of ten, without AQM and with AVD."""

from study import Recorded, digits, table

plain, avd = Recorded("har02-fig4"), Recorded("har02-fig4-avd")
rows = [("contract of one flow of ten, 100 Mbps", "gets", "queue", "each other", "gets with AVD", "queue with AVD", "each other with AVD")]
for contract in ("0 bps", "30 Mbps", "60 Mbps", "90 Mbps", "100 Mbps", "110 Mbps"):
    at = {"law": "accord", "limit": "3000 KB", "contract": contract}

    def rate(found, name):
        value = found(name, **at)
        return f"{digits(value / 1e6)} Mbps" if value >= 1e6 else f"{digits(value / 1e3)} Kbps"

    rows.append((
        contract.replace("0 bps", "none") if contract == "0 bps" else contract,
        rate(plain, "rate of flow 0"), f"{digits(plain('queue', **at) / 1e3)} KB", rate(plain, "rate of each other"),
        rate(avd, "rate of flow 0"), f"{digits(avd('queue', **at))} packets", rate(avd, "rate of each other"),
    ))
table(*rows)
