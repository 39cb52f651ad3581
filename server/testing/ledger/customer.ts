import { post, type Posting } from '../../src/ledger/post'
import type { Database } from '../../src/platform/db/database'
import { newId } from '../../src/platform/db/id'

type Connected = Pick<Database, 'query'>

/** Creates a customer with this balance, in nano-dollars. Returns the account's id. */
export async function createCustomer(database: Connected, posted = 0n): Promise<string> {
  const id = newId('user')
  await database.query
    .insertInto('users')
    .values({ id, email: `${id}@example.com`, display_name: 'Test' })
    .execute()
  if (posted > 0n) await post(database.query, topUpOf(id, posted))
  return id
}

/** Creates a top-up; one `externalRef` counts once. */
export const topUpOf = (
  accountId: string,
  amount: bigint,
  externalRef = `test:${newId('att')}`,
): Posting => ({
  accountId,
  amount,
  externalRef,
  kind: 'topup',
  house: 'house:topup',
  description: 'Test',
})
