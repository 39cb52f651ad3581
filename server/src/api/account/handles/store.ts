import { sql, type Kysely } from 'kysely'
import type { Catalog } from '../../../catalog/catalog'
import type { Schema } from '../../../platform/db/schema'
import { isUniqueViolation } from '../../../platform/db/violation'
import { invalidRequest } from '../../../errors'
import { toTimestamp } from '../../../http/fields'
import { checkReserved } from '../../../http/public-name'

const waitDays = 30
const dayMs = 86_400_000

interface Row {
  name: string
  updated_at: Date
}

const toHandle = (row: Row | undefined) => ({
  handle: row?.name ?? null,
  model_prefix: row ? `${row.name}/` : null,
  updated_at: row ? toTimestamp(row.updated_at) : null,
  can_change_at: row ? toTimestamp(changeableAt(row)) : null,
})

const changeableAt = ({ updated_at: changedAt }: Row) =>
  new Date(changedAt.getTime() + waitDays * dayMs)

const handleTaken = () => invalidRequest('handle', 'taken', 'handle: this name is already taken.')

export interface HandleStoreOptions {
  db: Kysely<Schema>
  catalog: Catalog
  /** Invalidates what this node has cached of a name. */
  changed: (name: string) => void
}

export type HandleStore = ReturnType<typeof createHandleStore>

/** Handles of accounts. Slugs of organizations share their name space. */
export function createHandleStore({ db, catalog, changed }: HandleStoreOptions) {
  const find = (userId: string) =>
    db
      .selectFrom('public_name')
      .select(['name', 'updated_at'])
      .where('user_id', '=', userId)
      .executeTakeFirst()
  return {
    get: async (userId: string) => toHandle(await find(userId)),
    async set(userId: string, handle: string) {
      const existingHandle = await find(userId)
      if (existingHandle?.name === handle) return toHandle(existingHandle)
      checkReserved('handle', handle, catalog.snapshot.providers)
      await checkFree(db, handle)
      if (existingHandle) checkWait(existingHandle)
      // A concurrent change waits for the row lock: the condition is in the statement.
      const { rows } = await sql<Row>`
        insert into public_name as known (name, user_id) values (${handle}, ${userId})
        on conflict (user_id) do update set name = excluded.name, updated_at = now()
        where known.updated_at <= now() - make_interval(days => ${waitDays})
        returning name, updated_at`
        .execute(db)
        .catch((thrown: unknown) => {
          throw isUniqueViolation(thrown) ? handleTaken() : thrown
        })
      if (existingHandle) changed(existingHandle.name)
      changed(handle)
      const [row] = rows
      if (row) return toHandle(row)
      throw waiting()
    },
  }
}

const waiting = (until?: Date) =>
  invalidRequest(
    'handle',
    'wrong_state',
    `handle: can be changed only once in ${waitDays} days${until ? `, next on ${toTimestamp(until)}` : ''}.`,
  )

function checkWait(existingHandle: Row): void {
  const until = changeableAt(existingHandle)
  if (until.getTime() > Date.now()) throw waiting(until)
}

/** Throws for reserved names, and for those of providers. */
async function checkFree(db: Kysely<Schema>, handle: string): Promise<void> {
  const provider = await db
    .selectFrom('provider')
    .select('id')
    .where('key', '=', handle)
    .executeTakeFirst()
  // Disabled providers count, too.
  if (provider) {
    throw invalidRequest('handle', 'reserved', `handle: "${handle}" is reserved.`)
  }
  const owner = await db
    .selectFrom('public_name')
    .select('name')
    .where('name', '=', handle)
    .executeTakeFirst()
  if (owner) throw handleTaken()
}
