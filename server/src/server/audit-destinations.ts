import type { Logger } from 'pino'
import type { Storage } from './storage'
import { createAuditDestinationStore, forManagers } from '../api/account/audit-destinations/store'
import { createLegalHoldStore } from '../api/operator/legal-holds/store'
import { AuditDelivery } from '../audit-log/delivery/delivery'
import { measureOutbox } from '../audit-log/delivery/outbox'
import { parseSyslogUrl } from '../audit-log/delivery/syslog'
import { createAuditDeliveryJob } from '../jobs/deliver-audit-logs'
import type { AuditDestinationRow } from '../platform/db/audit-destination-schema'
import type { AuditDeliveryFigures } from '../telemetry/metrics-snapshot'
import type { Egress } from '../upstream/http/egress'
import type { GuardedEgress } from '../upstream/http/guarded-egress'

const syslogForm = 'A syslog server is written as tls://siem.example.com:6514.'

type GuardedChecks = Pick<GuardedEgress, 'checkCall' | 'checkStream'>

/** Creates the stores of destinations of audit logs, and of legal holds. */
export function createAuditStores({ database, installation }: Storage, guarded: GuardedChecks) {
  const db = database.query
  const auditDestinations = createAuditDestinationStore({
    db,
    sealingKeys: installation.sealingKeys,
    checkAddress: (destination, organizationId) =>
      refuseAuditAddress(guarded, destination, organizationId),
  })
  return {
    auditDestinations,
    organizationAuditDestinations: forManagers(db, auditDestinations),
    legalHolds: createLegalHoldStore(db),
  }
}

/** Returns the reason against an address of a destination: those of organizations are guarded. */
async function refuseAuditAddress(
  guarded: GuardedChecks,
  { kind, url }: { kind: AuditDestinationRow['kind']; url: string },
  organizationId: string | null,
): Promise<string | undefined> {
  if (kind === 'syslog') {
    const server = parseSyslogUrl(url)
    if (!server) return syslogForm
    if (organizationId === null) return undefined
    if (!server.isSecure) return 'Only TLS is allowed: tls://siem.example.com:6514.'
    return (await guarded.checkStream(server.host, server.port, organizationId)).refusal
  }
  if (organizationId !== null) return (await guarded.checkCall(url, organizationId)).refusal
  const protocol = URL.parse(url)?.protocol
  return protocol === 'https:' || protocol === 'http:'
    ? undefined
    : 'An address such as https://siem.example.com/tollgate.'
}

interface Delivering {
  storage: Storage
  egress: Pick<Egress, 'send' | 'sendStream'>
  log: Logger
}

/** Starts the delivery of audit logs; `disposables` ends it. Returns a function that reads its figures. */
export function startAuditDelivery(
  { storage, egress, log }: Delivering,
  disposables: AsyncDisposableStack,
): () => AuditDeliveryFigures {
  const db = storage.database.query
  const delivery = disposables.use(
    new AuditDelivery({
      db,
      sealingKeys: storage.installation.sealingKeys,
      send: (call) => egress.send(call),
      sendStream: (stream) => egress.sendStream(stream),
      onFailure: (err) => log.warn({ err }, 'a delivery of audit logs could not be recorded'),
    }),
  )
  let state = { waiting: 0, oldestSeconds: 0, failing: 0 }
  const measure = async () => {
    state = await measureOutbox(db)
  }
  disposables.use(createAuditDeliveryJob({ delivery, measure, log }))
  return () => ({ ...state, ...delivery.counts })
}
