import { sql, type Kysely } from 'kysely'
import { actorContext, systemActor } from './actor-context'
import { cleanText, toRecordedFields } from './recorded-request'
import { newId } from '../platform/db/id'
import type { Schema } from '../platform/db/schema'
import { storable } from '../platform/db/storable'
import { toUsd } from '../wire/usd'

/** The actions on each kind of object in organizations. A new kind of object is a line here. */
const deeds = {
  organization: ['created', 'changed', 'deleted'],
  member: [
    'asked',
    'joined',
    'admitted',
    'refused',
    'changed',
    'role_changed',
    'owner_changed',
    'suspended',
    'reinstated',
    'left',
    'removed',
  ],
  invitation: ['created', 'resent', 'revoked', 'accepted', 'declined'],
  connection: ['created', 'changed', 'key_replaced', 'deleted'],
  price: ['set', 'removed'],
  pool: ['created', 'changed', 'deleted'],
  gateway: ['created', 'deleted'],
  collection: ['created', 'changed', 'deleted'],
  scim_directory: ['created', 'changed', 'token_replaced', 'deleted'],
  scim_user: ['created', 'linked', 'changed', 'deactivated', 'reactivated', 'deleted'],
  scim_group: ['created', 'changed', 'deleted'],
  destination: ['created', 'changed', 'deleted'],
  budget: ['created', 'changed', 'deleted'],
  notification_destination: ['created', 'changed', 'deleted'],
  checkout: ['opened'],
  company: ['changed'],
  view: ['created', 'changed', 'deleted'],
  credit: ['bought', 'granted', 'adjusted', 'refunded', 'disputed', 'returned'],
} as const satisfies Readonly<Record<string, readonly string[]>>

type Deeds = typeof deeds
export type Action = { [Kind in keyof Deeds]: `${Kind}.${Deeds[Kind][number]}` }[keyof Deeds]

const kinds = Object.keys(deeds)
const allActions = Object.entries(deeds).flatMap(([kind, all]) =>
  all.map((deed) => `${kind}.${deed}`),
)

/** The filters of the audit log: an action, or a kind of object for all its actions. */
export const actionFilters: readonly string[] = [...kinds, ...allActions]

/** Returns the actions that a value of `actionFilters` selects. */
export const actionsOf = (prefix: string): string[] =>
  allActions.filter((action) => action === prefix || action.startsWith(`${prefix}.`))

const maxFieldBytes = 8 * 1024

/** Fields that hold no secret, as they are stored: a bigint is money and is shown in USD. */
export type RecordedFields = Readonly<Record<string, unknown>>

export interface OrganizationChange {
  organizationId: string
  action: Action
  objectId: string
  /** The object's name for people; of members and invitations their address. */
  objectName: string | null
  /** Its fields before the change, where it existed. */
  before?: RecordedFields
  /** Its fields after the change, where it still exists. */
  after?: RecordedFields
}

/**
 * Records a change, with its actor, in the transaction that makes it. Of two states of an object only the fields that
 * differ are kept; where none do, nothing is recorded.
 */
export async function recordChange(db: Kysely<Schema>, change: OrganizationChange): Promise<void> {
  const { organizationId, action, objectId, objectName } = change
  const differing = differingIn(change)
  if (!differing) return
  const { id: actor, keyId, requestId, clientAddress } = actorContext.getStore() ?? systemContext
  const toJson = (fields: RecordedFields | undefined) =>
    fields === undefined ? null : JSON.stringify(toRecordedFields(action, fields, maxFieldBytes))
  await db
    .insertInto('organization_trail')
    .values({
      id: newId('trail'),
      organization_id: organizationId,
      actor,
      actor_email: sql<string | null>`(select email from users where id = ${actor})`,
      key_id: keyId,
      action,
      object_id: objectId,
      object_name: objectName === null ? null : cleanText(storable(objectName)),
      before: toJson(differing.before),
      after: toJson(differing.after),
      request_id: requestId,
      client_address: clientAddress,
    })
    .execute()
}

const systemContext = { id: systemActor, keyId: null, requestId: null, clientAddress: null }

const toJsonValue = (_name: string, value: unknown) =>
  typeof value === 'bigint' ? toUsd(value) : value

/** A person's address is stored where it can be erased: as a name, never among fields. */
const isAddress = (name: string) => /(^|_)email$/.test(name)

const asText = (fields: RecordedFields | undefined, name: string) =>
  JSON.stringify(fields?.[name] ?? null, toJsonValue)

/** Returns the fields that differ; undefined where both states exist and are equal. */
function differingIn({ before, after }: OrganizationChange) {
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])].filter(
    (name) => asText(before, name) !== asText(after, name),
  )
  if (before && after && names.length === 0) return undefined
  const picked = (fields: RecordedFields | undefined) =>
    fields &&
    Object.fromEntries(
      names.map((name) => {
        const value: unknown = JSON.parse(asText(fields, name))
        return [name, value !== null && isAddress(name) ? '[set]' : value]
      }),
    )
  return { before: picked(before), after: picked(after) }
}
