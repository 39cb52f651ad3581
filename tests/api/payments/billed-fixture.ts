import type { SQL } from 'bun'
import { call, createFixture, type Fixture } from '../../harness/byok'
import { openDatabase } from '../../harness/database'
import type { Json } from '../../harness/http'
import { forFile } from '../../harness/for-file'
import type { Customer } from '../../harness/server'

/** A gateway with a model that costs, and its database. */
export interface BilledFixture extends Fixture {
  sql: SQL
}

async function open(): Promise<BilledFixture> {
  const fixture = await createFixture()
  const sql = await openDatabase(fixture.gateway.dataDir)
  await fixture.gateway.admin('POST', '/models', {
    id: 'sandbox/priced',
    name: 'Priced',
    upstream_model: 'echo',
    category: 'chat',
    pricing: { input: 100, output: 400 },
  })
  return {
    ...fixture,
    sql,
    async [Symbol.asyncDispose]() {
      await sql[Symbol.asyncDispose]()
      await fixture[Symbol.asyncDispose]()
    },
  }
}

/** One for all tests of the file that calls this. */
export function useBilledFixture() {
  const fixture = forFile(open, async (opened) => {
    opened.gateway.recorder.verify()
    await opened[Symbol.asyncDispose]()
  })
  return {
    fixture,
    read: (customer: Customer, path: string) =>
      call(fixture().gateway, customer, `GET /billing${path}`),
    grant: (fields: Json) => fixture().gateway.admin('POST', '/credits/grant', fields),
  }
}
