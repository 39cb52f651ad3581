import type { AuditDeliveryFigures } from './metrics-snapshot'
import { one, type Metric, type PlainMetric } from './metric'

const gauge = (
  name: string,
  help: string,
  read: (figures: AuditDeliveryFigures) => number,
): PlainMetric => ({
  name,
  type: 'gauge',
  help,
  labels: [],
  samples: ({ figures }) => one(read(figures.auditDelivery)),
})

/** Metrics of the delivery of audit logs. */
export const auditDeliveryMetrics: readonly Metric[] = [
  gauge(
    'tollgate_audit_delivery_waiting',
    'Entries of audit logs that destinations have not taken yet, at most a million; the same on all nodes.',
    ({ waiting }) => waiting,
  ),
  gauge(
    'tollgate_audit_delivery_lag_seconds',
    'Age of the oldest of them.',
    ({ oldestSeconds }) => oldestSeconds,
  ),
  gauge(
    'tollgate_audit_delivery_failing',
    'Destinations of audit logs whose last attempt failed.',
    ({ failing }) => failing,
  ),
  {
    ...gauge(
      'tollgate_audit_delivery_entries_total',
      'Entries that this node has delivered.',
      ({ delivered }) => delivered,
    ),
    type: 'counter',
  },
  {
    ...gauge(
      'tollgate_audit_delivery_failures_total',
      'Attempts of this node that failed; what they sent is sent again.',
      ({ failures }) => failures,
    ),
    type: 'counter',
  },
]
