import { z } from 'zod'
import { channels, type AlertType } from '../../../alerts/alert'
import { alertPeriods, alertTypes } from '../../../platform/db/alert-schema'
import { objectId } from '../../../http/answers'
import { Pagination } from '../../../http/paging'
import { flag } from '../../../http/query'
import { line } from '../../../http/fields'
import { customIssue } from '../../../wire/field-error'

/** The most alerts of an account. */
export const maxAlerts = 100

const maxPercent = 100

const name = line(200)
const type = z.enum(alertTypes)
const threshold = z.number().min(0).max(1e12)
const period = z.enum(alertPeriods)
/** Drops repeated channels. */
const notificationChannels = z
  .array(z.enum(channels))
  .max(20)
  .transform((requested) => channels.filter((channel) => requested.includes(channel)))
/** Drops repeated ids. */
const notificationDestinations = z
  .array(z.string().max(100))
  .max(20)
  .transform((ids) => [...new Set(ids)])
  .nullish()
  .describe('Ids of destinations of notifications that receive its triggers; null for all')
const description = z.string().max(500)
const minRequests = z.int().min(1).max(1_000_000)

/** Finds a conflict between type and threshold of an alert. */
export function findAlertConflict(alert: { type: AlertType; threshold: number }) {
  const isPercent = alert.type === 'error_rate' || alert.type === 'quota_limit'
  if (!isPercent || alert.threshold <= maxPercent) return undefined
  const message = `must be at most ${maxPercent}: it is a percentage.`
  return customIssue('out_of_range', message, ['threshold'])
}

/** A new alert. Source: contract 6.1. */
export const NewAlert = z
  .object({
    name,
    type,
    threshold: threshold.describe(
      'USD for `cost_threshold`, milliseconds for `model_latency`, else percent; without effect for `unusual_activity`',
    ),
    period: period.nullish().transform((value) => value ?? 'day'),
    enabled: z
      .boolean()
      .nullish()
      .transform((value) => value ?? true),
    notification_channels: notificationChannels
      .nullish()
      .transform((value) => value ?? [...channels]),
    notification_destinations: notificationDestinations,
    description: description.nullish().transform((value) => value ?? null),
    min_requests: minRequests
      .nullish()
      .transform((value) => value ?? null)
      .describe(
        'Minimum number of requests in the period: 10 by default for `error_rate`, 1 for `model_latency`; without effect for other types',
      ),
  })
  .superRefine((alert, ctx) => {
    const conflict = findAlertConflict(alert)
    if (conflict) ctx.addIssue(conflict)
  })
  .meta({ ref: 'NewAlert' })
export type NewAlert = z.output<typeof NewAlert>

export const ChangedAlert = z
  .object({
    name: name.optional(),
    type: type.optional(),
    threshold: threshold.optional(),
    period: period.optional(),
    enabled: z.boolean().optional(),
    notification_channels: notificationChannels.optional(),
    notification_destinations: notificationDestinations,
    description: description.nullish(),
    min_requests: minRequests.nullish(),
  })
  .meta({ ref: 'ChangedAlert' })
export type ChangedAlert = z.output<typeof ChangedAlert>

const described = {
  id: objectId('alert'),
  name: z.string().meta({ examples: ['Daily cost'] }),
  type,
  threshold: z.number(),
  period,
  enabled: z.boolean(),
  notification_channels: z.array(z.enum(channels)),
  notification_destinations: z
    .array(z.string())
    .nullable()
    .describe('Destinations that receive its triggers; null for all'),
  description: z.string().nullable(),
  min_requests: z.int().nullable(),
  created_at: z.iso.datetime(),
}

const triggerCounts = {
  trigger_count: z.int(),
  last_triggered_at: z.iso.datetime().nullable(),
}

export const Trigger = z
  .object({
    id: objectId('trg'),
    triggered_at: z.iso.datetime(),
    value: z.number().describe('Measured value'),
    acknowledged: z.boolean(),
  })
  .meta({ ref: 'AlertTrigger' })

export const CreatedAlert = z.object(described).meta({ ref: 'CreatedAlert' })
export const ListedAlert = z.object({ ...described, ...triggerCounts }).meta({ ref: 'ListedAlert' })

export const Alert = z
  .object({
    ...described,
    ...triggerCounts,
    recent_triggers: z.array(Trigger).describe('The last ten, newest first'),
    updated_at: z.iso.datetime(),
  })
  .meta({ ref: 'Alert' })

export const AlertList = z.object({ alerts: z.array(ListedAlert), pagination: Pagination })

export const AlertTest = z
  .object({
    success: z.boolean(),
    message: z.string(),
    channels: z.array(z.enum(channels)).describe('Channels that were reached'),
  })
  .meta({ ref: 'AlertTest' })

/** Query of the list. */
export const AlertFilter = z.object({
  type: type.optional().describe('Only alerts of this type'),
  enabled: flag.optional().describe('Only enabled, or only disabled alerts'),
})
export type AlertFilter = z.output<typeof AlertFilter>
