import type { Transaction } from 'kysely'
import type { Schema } from '../../db/schema'

/** Has what an account adds at once be counted one after the other. */
export const lockAccount = (trx: Transaction<Schema>, userId: string) =>
  trx
    .selectFrom('users')
    .select('id')
    .where('id', '=', userId)
    .forNoKeyUpdate()
    .executeTakeFirstOrThrow()
