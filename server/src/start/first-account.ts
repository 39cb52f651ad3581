import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { sql, type Kysely } from 'kysely'
import type { UserStore } from '../api/admin-users/store'
import type { Schema } from '../db/schema'
import { post } from '../ledger/post'

const email = 'operator@tollgate.internal'

/** The operator's own account and a key for it, made where nobody has an account yet. */
export interface FirstAccount {
  /** Only from the start that made it. */
  key: string | undefined
  /** Where the key is kept, undefined where somebody has removed it. */
  path: string | undefined
  /** The operator's address, as long as only links let him in. */
  withoutPassword: string | undefined
}

/** Makes the first account. Several processes may try at once: one makes it. */
export async function openFirstAccount(
  db: Kysely<Schema>,
  users: UserStore,
  { dataDir, credit }: { dataDir: string; credit: bigint },
): Promise<FirstAccount> {
  const path = join(dataDir, 'first-key')
  const somebody = await db.selectFrom('users').select('id').limit(1).executeTakeFirst()
  if (somebody) {
    const kept = await readFile(path, 'utf8').catch(() => undefined)
    const withoutPassword = (await hasNoPassword(db)) ? email : undefined
    return { key: undefined, path: kept ? path : undefined, withoutPassword }
  }
  // The unique address lets one process through.
  const user = await users
    .create({ email, display_name: 'Operator', is_operator: true })
    .catch(() => undefined)
  if (!user) return { key: undefined, path: undefined, withoutPassword: undefined }
  const { key } = await users.keys.create(user.id, {
    name: 'First key',
    permissions: ['read', 'write', 'admin'],
  })
  if (credit > 0n) {
    await post(db, {
      accountId: user.id,
      amount: credit,
      kind: 'bonus',
      house: 'house:promo',
      externalRef: `first:${user.id}`,
      description: 'Credit of the first account',
    })
  }
  await writeFile(path, `${key}\n`, { mode: 0o600 })
  return { key, path, withoutPassword: email }
}

/** A browser that was lost must not keep him out: where he has no password, a link is the only way. */
async function hasNoPassword(db: Kysely<Schema>): Promise<boolean> {
  const { rows } = await sql`
    select from users
    where email = ${email} and status = 'active'
      and not exists (select from auth_account where user_id = users.id)`.execute(db)
  return rows.length > 0
}
