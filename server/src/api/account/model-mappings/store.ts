import type { Kysely, Selectable, Transaction } from 'kysely'
import { requireRow, lockAccount } from '../../../platform/db/account-row'
import {
  findMappingConflict,
  matchTypeOf,
  type ChangedMapping,
  type NewMapping,
  type NewPreview,
  type MappingPreview,
} from './schema'
import { sortMappings } from '../../../catalog/mapping'
import { newId } from '../../../platform/db/id'
import type { ModelMappingRow } from '../../../platform/db/name-schema'
import type { Schema } from '../../../platform/db/schema'
import { isUniqueViolation } from '../../../platform/db/violation'
import { ApiError, invalidRequest } from '../../../errors'
import { present, toTimestamp } from '../../../http/fields'
import { pageList, type Page } from '../../../http/paging'

const maxMappings = 200

type Row = Selectable<ModelMappingRow>

const toMapping = (row: Row) => ({
  id: row.id,
  source_pattern: row.source_pattern,
  target_model: row.target_model,
  match_type: matchTypeOf(row.source_pattern),
  priority: row.priority,
  enabled: row.enabled,
  description: row.description,
  created_at: toTimestamp(row.created_at),
  updated_at: toTimestamp(row.updated_at),
})

const rejectTakenPattern = (thrown: unknown) => {
  if (!isUniqueViolation(thrown)) throw thrown
  throw invalidRequest(
    'source_pattern',
    'taken',
    'source_pattern: you already have a mapping for this pattern.',
  )
}

interface Rule {
  source: string
  target: string
}

interface Previewed {
  resolvedModel: string
  /** Empty for the unsaved mapping of a preview; null where no mapping applies. */
  mappingId: string | null
  isMatched: boolean
  provider: string | undefined
  reason: string | undefined
}

export interface MappingStoreOptions {
  db: Kysely<Schema>
  /** Rejects with `model_not_found` for a name that resolves to nothing for the account. */
  checkName: (userId: string, name: string) => Promise<unknown>
  /** Resolves a name as a call would, with `rule` applied before the account's own mappings. */
  preview: (userId: string, name: string, rule: Rule | undefined) => Promise<Previewed>
  /** Invalidates what this node has cached of an account. */
  changed: (userId: string) => void
}

export type MappingStore = ReturnType<typeof createMappingStore>

/** The mappings of accounts. All reject with `resource_not_found` for unknown and foreign ids. */
export function createMappingStore({ db, checkName, preview, changed }: MappingStoreOptions) {
  const checkTarget = async (userId: string, target: string) => {
    if (!/\$\d/.test(target)) await checkName(userId, target)
  }
  return {
    list: (userId: string, page: Page, enabled: boolean | undefined) =>
      listMappings(db, userId, { page, enabled }),
    async create(userId: string, mapping: NewMapping) {
      const { source_pattern, target_model, priority, enabled, description } = mapping
      const fields = { source_pattern, target_model, priority, enabled, description }
      await checkTarget(userId, fields.target_model)
      const row = await insert(db, userId, fields)
      changed(userId)
      return toMapping(row)
    },
    async change(userId: string, id: string, { match_type, ...fields }: ChangedMapping) {
      const existingMapping = await findRow(db, userId, id)
      checkComplete({ ...existingMapping, ...present(fields), match_type })
      if (fields.target_model !== undefined) await checkTarget(userId, fields.target_model)
      const row = await db
        .updateTable('model_mapping')
        .set({ ...present(fields), updated_at: new Date() })
        .where('id', '=', id)
        .where('user_id', '=', userId)
        .returningAll()
        .executeTakeFirst()
        .catch(rejectTakenPattern)
      if (!row) throw new ApiError('resource_not_found')
      changed(userId)
      return toMapping(row)
    },
    async delete(userId: string, id: string) {
      await findRow(db, userId, id)
      await db
        .deleteFrom('model_mapping')
        .where('id', '=', id)
        .where('user_id', '=', userId)
        .execute()
      changed(userId)
      return { success: true as const, message: 'The mapping was deleted.' }
    },
    preview: async (userId: string, requested: NewPreview): Promise<MappingPreview> =>
      toPreview(requested.model, await preview(userId, requested.model, toRule(requested))),
  }
}

/** Returns the unsaved mapping of a preview, if it would be applied. */
const toRule = ({ mapping }: NewPreview): Rule | undefined =>
  mapping?.enabled ? { source: mapping.source_pattern, target: mapping.target_model } : undefined

const toPreview = (requested: string, previewed: Previewed): MappingPreview => ({
  requested_model: requested,
  resolved_model: previewed.resolvedModel,
  matched: previewed.isMatched,
  mapping_id: previewed.mappingId === '' ? null : previewed.mappingId,
  accessible: previewed.reason === undefined,
  provider: previewed.provider ?? null,
  reason: previewed.reason ?? null,
})

interface MappingListing {
  page: Page
  enabled: boolean | undefined
}

/** Lists mappings in the order of application. */
async function listMappings(db: Kysely<Schema>, userId: string, { page, enabled }: MappingListing) {
  const rows = await db
    .selectFrom('model_mapping')
    .selectAll()
    .where('user_id', '=', userId)
    .$if(enabled !== undefined, (query) => query.where('enabled', '=', enabled ?? true))
    .execute()
  const ordered = sortMappings(
    rows.map((row) => ({ ...row, source: row.source_pattern, target: row.target_model })),
  )
  const behind = (before: string) => ordered.slice(ordered.findIndex(isOf(before)) + 1)
  const { items, pagination } = pageList(page, ordered, behind)
  return { mappings: items.map(toMapping), pagination }
}

const isOf =
  (id: string) =>
  (row: { id: string }): boolean =>
    row.id === id

async function findRow(db: Kysely<Schema>, userId: string, id: string): Promise<Row> {
  return requireRow('map', id, () =>
    db
      .selectFrom('model_mapping')
      .selectAll()
      .where('id', '=', id)
      .where('user_id', '=', userId)
      .executeTakeFirst(),
  )
}

/** Checks the whole mapping: a change that is valid by itself may conflict with unchanged fields. */
function checkComplete(mapping: Parameters<typeof findMappingConflict>[0]): void {
  const conflict = findMappingConflict(mapping)
  if (!conflict) return
  const param = conflict.path.map(String).join('.')
  throw invalidRequest(param, conflict.params.issue, `${param}: ${conflict.message}`)
}

const insert = (db: Kysely<Schema>, userId: string, fields: Omit<NewMapping, 'match_type'>) =>
  db.transaction().execute(async (trx) => {
    await checkCount(trx, userId)
    return trx
      .insertInto('model_mapping')
      .values({ id: newId('map'), user_id: userId, ...fields })
      .returningAll()
      .executeTakeFirstOrThrow()
      .catch(rejectTakenPattern)
  })

/** Locks the account, so that concurrent requests count mappings one after the other. */
async function checkCount(trx: Transaction<Schema>, userId: string): Promise<void> {
  await lockAccount(trx, userId)
  const { total } = await trx
    .selectFrom('model_mapping')
    .where('user_id', '=', userId)
    .select(({ fn }) => fn.countAll<bigint>().as('total'))
    .executeTakeFirstOrThrow()
  if (total < maxMappings) return
  throw invalidRequest(null, 'limit_reached', `An account has at most ${maxMappings} mappings.`)
}
