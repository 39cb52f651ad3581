import { z } from 'zod'
import { objectId } from '../../../http/answers'
import { line } from '../../../http/fields'
import { Pagination } from '../../../http/paging'
import { eventTypes } from '../../../notifications/events'
import { destinationKinds } from '../../../platform/db/notice-schema'

/** The most destinations of an account, and of an organization. */
export const maxDestinations = 20

const name = line(100)
const url = z
  .string()
  .trim()
  .max(1000)
  .describe('An https address of the public internet. It is shown without its path and query')
const routingKey = z
  .string()
  .trim()
  .regex(/^\w{20,64}$/)
  .describe('Integration key of a service of PagerDuty, never shown')
const kind = z.enum(destinationKinds)
/** Drops repeated events. */
const events = z
  .array(z.enum(eventTypes))
  .min(1)
  .max(20)
  .transform((requested) => eventTypes.filter((event) => requested.includes(event)))

/** A new destination. Source: contract 6.13. */
export const NewDestination = z
  .object({
    name,
    kind,
    url: url.optional(),
    routing_key: routingKey.optional(),
    events: events.nullish().describe('Absent, or null, for all that the owner has'),
    enabled: z
      .boolean()
      .nullish()
      .transform((value) => value ?? true),
  })
  .meta({ ref: 'NewNotificationDestination' })
export type NewDestination = z.output<typeof NewDestination>

export const ChangedDestination = z
  .object({
    name: name.optional(),
    url: url.optional(),
    routing_key: routingKey.optional(),
    events: events.optional(),
    enabled: z.boolean().optional(),
  })
  .meta({ ref: 'ChangedNotificationDestination' })
export type ChangedDestination = z.output<typeof ChangedDestination>

const described = {
  id: objectId('dest'),
  name: z.string(),
  kind,
  url: z.string().describe('Scheme and host, without the path, which may grant access'),
  events: z.array(z.enum(eventTypes)),
  enabled: z.boolean(),
  disabled_reason: z.string().nullable().describe('The reason why Tollgate disabled it'),
  failing_since: z.iso.datetime().nullable(),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
}

export const Destination = z.object(described).meta({ ref: 'NotificationDestination' })

const signingKey = z
  .string()
  .nullable()
  .describe('Key of the signatures, shown only here; null for kinds without signatures')

export const DestinationWithKey = z
  .object({ ...described, secret: signingKey })
  .meta({ ref: 'NotificationDestinationWithKey' })

export const DestinationList = z.object({
  destinations: z.array(Destination),
  pagination: Pagination,
})

export const Delivery = z
  .object({
    id: objectId('dlv').describe('The `webhook-id` of each attempt'),
    event: z.string(),
    status: z.enum(['waiting', 'delivered', 'failed']),
    attempts: z.int(),
    response_status: z.int().nullable(),
    response_text: z.string().nullable().describe('The first kilobyte of the last answer'),
    error: z.string().nullable(),
    next_attempt_at: z.iso.datetime().nullable(),
    last_attempt_at: z.iso.datetime().nullable(),
    created_at: z.iso.datetime(),
  })
  .meta({ ref: 'NotificationDelivery' })

export const DeliveryList = z.object({ deliveries: z.array(Delivery), pagination: Pagination })
