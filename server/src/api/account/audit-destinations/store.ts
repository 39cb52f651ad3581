import { sql, type Kysely, type Selectable } from 'kysely'
import {
  maxAuditDestinations,
  type ChangedAuditDestination,
  type NewAuditDestination,
} from './schema'
import { openAuditDestination, sealAuditDestination } from '../../../audit-log/delivery/secret'
import { recordChange, type Action } from '../../../audit-log/organization-trail'
import type { Principal } from '../../../auth/principal'
import { requireManager } from '../../../auth/roles'
import { invalidRequest } from '../../../errors'
import { present } from '../../../http/fields'
import { queryPage } from '../../../http/paged-rows'
import type { Page } from '../../../http/paging'
import { createSigningKey } from '../../../notifications/destination'
import { lockOwner, requireRow } from '../../../platform/db/account-row'
import type { AuditDestinationRow } from '../../../platform/db/audit-destination-schema'
import { noteCreated } from '../../../platform/db/background-work'
import { newId } from '../../../platform/db/id'
import type { Schema } from '../../../platform/db/schema'
import type { SealingKeys } from '../../../platform/db/sealed'

type Kind = AuditDestinationRow['kind']

interface Ports {
  db: Kysely<Schema>
  sealingKeys: SealingKeys
  /** Returns the reason against an address; undefined for a good one. */
  checkAddress: (
    destination: { kind: Kind; url: string },
    organizationId: string | null,
  ) => Promise<string | undefined>
}

type Stored = Selectable<AuditDestinationRow>
type Row = Stored & { waiting: number; oldest_waiting_at: Date | null }

const overlapMs = 86_400_000

/** Returns scheme, host and port of an address; nothing of a text that is none. */
export function shownUrl(text: string): string {
  const url = URL.parse(text)
  return url ? `${url.protocol}//${url.host}` : ''
}

const toTime = (date: Date | null) => date && date.toISOString()

const toAnswer = (row: Row) => ({
  id: row.id,
  name: row.name,
  kind: row.kind,
  url: row.shown_url,
  enabled: row.enabled,
  waiting: row.waiting,
  oldest_waiting_at: toTime(row.oldest_waiting_at),
  delivered: Number(row.delivered),
  last_delivered_at: toTime(row.last_delivered_at),
  failing_since: toTime(row.failing_since),
  last_error: row.last_error,
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
})

const selectRows = (db: Kysely<Schema>, organizationId: string | null) =>
  db
    .selectFrom('audit_destination')
    .selectAll()
    .select([
      sql<number>`(
        select count(*)::integer from (
          select from audit_outbox where destination_id = audit_destination.id limit 100000
        ) as waiting_rows
      )`.as('waiting'),
      sql<Date | null>`(
        select queued_at from audit_outbox where destination_id = audit_destination.id
        order by position limit 1
      )`.as('oldest_waiting_at'),
    ])
    .where(sql<boolean>`organization_id is not distinct from ${organizationId}`)

const requireDestination = (db: Kysely<Schema>, organizationId: string | null, id: string) =>
  requireRow('sink', id, () =>
    selectRows(db, organizationId).where('id', '=', id).executeTakeFirst(),
  )

const auditFields = ({ name, kind, shown_url: url, enabled }: Stored) => ({
  name,
  kind,
  url,
  enabled,
})

/** Records a change in the audit log of its organization; that of operators records theirs by itself. */
async function record(
  trx: Kysely<Schema>,
  action: Action,
  { before, after }: { before?: Stored; after?: Stored },
): Promise<void> {
  const row = after ?? before
  if (!row || row.organization_id === null) return
  await recordChange(trx, {
    organizationId: row.organization_id,
    action,
    objectId: row.id,
    objectName: row.name,
    ...(before && { before: auditFields(before) }),
    ...(after && { after: auditFields(after) }),
  })
}

async function checkUrl(
  { checkAddress }: Ports,
  destination: { kind: Kind; url: string },
  organizationId: string | null,
): Promise<void> {
  const refusal = await checkAddress(destination, organizationId)
  if (refusal !== undefined) throw invalidRequest('url', 'not_allowed', `url: ${refusal}`)
}

export type AuditDestinationStore = ReturnType<typeof createAuditDestinationStore>

/**
 * Destinations of audit logs: of an organization, or of the installation where `organizationId` is null. All reject with
 * `resource_not_found` for unknown and foreign ids.
 */
export function createAuditDestinationStore(ports: Ports) {
  const { db } = ports
  return {
    async list(organizationId: string | null, page: Page) {
      const query = selectRows(db, organizationId)
      const { items, pagination } = await queryPage(db, query, { page })
      return { destinations: items.map(toAnswer), pagination }
    },
    create: (organizationId: string | null, fields: NewAuditDestination) =>
      create(ports, organizationId, fields),
    change: (organizationId: string | null, id: string, fields: ChangedAuditDestination) =>
      change(ports, { organizationId, id }, fields),
    async delete(organizationId: string | null, id: string) {
      await requireDestination(db, organizationId, id)
      await db.transaction().execute(async (trx) => {
        const before = await trx
          .deleteFrom('audit_destination')
          .where('id', '=', id)
          .returningAll()
          .executeTakeFirst()
        if (before) await record(trx, 'destination.deleted', { before })
      })
      return { success: true as const, message: 'The destination was deleted.' }
    },
    rotate: (organizationId: string | null, id: string) => rotate(ports, organizationId, id),
  }
}

async function create(ports: Ports, organizationId: string | null, fields: NewAuditDestination) {
  const { db, sealingKeys } = ports
  const { url, ...columns } = fields
  await checkUrl(ports, fields, organizationId)
  const key = fields.kind === 'webhook' ? createSigningKey() : undefined
  const id = newId('sink')
  await db.transaction().execute(async (trx) => {
    await checkCount(trx, organizationId)
    noteCreated(id)
    const after = await trx
      .insertInto('audit_destination')
      .values({
        ...columns,
        ...sealAuditDestination(id, { url, key }, sealingKeys),
        id,
        organization_id: organizationId,
        shown_url: shownUrl(url),
      })
      .returningAll()
      .executeTakeFirstOrThrow()
    await record(trx, 'destination.created', { after })
  })
  return { ...toAnswer(await requireDestination(db, organizationId, id)), secret: key ?? null }
}

/** Concurrent creations are counted one after another: each locks a row that they share. */
async function checkCount(trx: Kysely<Schema>, organizationId: string | null): Promise<void> {
  if (organizationId === null) await sql`select from config for no key update`.execute(trx)
  else await lockOwner(trx, { user_id: null, organization_id: organizationId })
  const { total } = await trx
    .selectFrom('audit_destination')
    .where(sql<boolean>`organization_id is not distinct from ${organizationId}`)
    .select(({ fn }) => fn.countAll<bigint>().as('total'))
    .executeTakeFirstOrThrow()
  if (total < maxAuditDestinations) return
  const message = `There are at most ${maxAuditDestinations} destinations.`
  throw invalidRequest(null, 'limit_reached', message)
}

interface Place {
  organizationId: string | null
  id: string
}

const lockRow = (trx: Kysely<Schema>, { organizationId, id }: Place) =>
  requireRow('sink', id, () =>
    trx
      .selectFrom('audit_destination')
      .selectAll()
      .where('id', '=', id)
      .where(sql<boolean>`organization_id is not distinct from ${organizationId}`)
      .forNoKeyUpdate()
      .executeTakeFirst(),
  )

async function change(ports: Ports, place: Place, { url, ...fields }: ChangedAuditDestination) {
  const { db, sealingKeys } = ports
  const { organizationId, id } = place
  const { kind } = await requireDestination(db, organizationId, id)
  if (url !== undefined) await checkUrl(ports, { kind, url }, organizationId)
  await db.transaction().execute(async (trx) => {
    const before = await lockRow(trx, place)
    const secret = openAuditDestination(before, sealingKeys)
    const after = await trx
      .updateTable('audit_destination')
      .set({
        ...present(fields),
        ...(url !== undefined && {
          ...sealAuditDestination(id, { ...secret, url }, sealingKeys),
          shown_url: shownUrl(url),
        }),
        // The person who changes it sees at once whether it works.
        next_attempt_at: sql<Date>`now()`,
        updated_at: sql<Date>`now()`,
      })
      .where('id', '=', id)
      .returningAll()
      .executeTakeFirstOrThrow()
    await record(trx, 'destination.changed', { before, after })
  })
  return toAnswer(await requireDestination(db, organizationId, id))
}

/** Replaces the key of the signatures; the one before signs too for a day. */
async function rotate({ db, sealingKeys }: Ports, organizationId: string | null, id: string) {
  const key = createSigningKey()
  await db.transaction().execute(async (trx) => {
    const row = await lockRow(trx, { organizationId, id })
    const { url, key: oldKey } = openAuditDestination(row, sealingKeys)
    if (oldKey === undefined) {
      throw invalidRequest(null, 'wrong_state', 'A syslog server gets no signatures.')
    }
    const previous = { key: oldKey, until: Date.now() + overlapMs }
    await trx
      .updateTable('audit_destination')
      .set({
        ...sealAuditDestination(id, { url, key, previous }, sealingKeys),
        updated_at: sql<Date>`now()`,
      })
      .where('id', '=', id)
      .execute()
    if (organizationId === null) return
    await recordChange(trx, {
      organizationId,
      action: 'destination.changed',
      objectId: id,
      objectName: row.name,
      after: { secret: 'new' },
    })
  })
  return { ...toAnswer(await requireDestination(db, organizationId, id)), secret: key }
}

export type OrganizationAuditDestinations = ReturnType<typeof forManagers>

interface OfOrganization {
  id: string
  destinationId: string
}

/** The destinations of organizations for their managers. Rejects as `requireManager` does. */
export const forManagers = (db: Kysely<Schema>, destinations: AuditDestinationStore) => ({
  async list({ userId }: Principal, id: string, page: Page) {
    await requireManager(db, userId, id)
    return destinations.list(id, page)
  },
  async create({ userId }: Principal, id: string, fields: NewAuditDestination) {
    await requireManager(db, userId, id)
    return destinations.create(id, fields)
  },
  async change(
    { userId }: Principal,
    { id, destinationId }: OfOrganization,
    fields: ChangedAuditDestination,
  ) {
    await requireManager(db, userId, id)
    return destinations.change(id, destinationId, fields)
  },
  async delete({ userId }: Principal, { id, destinationId }: OfOrganization) {
    await requireManager(db, userId, id)
    return destinations.delete(id, destinationId)
  },
  async rotate({ userId }: Principal, { id, destinationId }: OfOrganization) {
    await requireManager(db, userId, id)
    return destinations.rotate(id, destinationId)
  },
})
