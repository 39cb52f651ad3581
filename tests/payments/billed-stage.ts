import type { SQL } from 'bun'
import { call, openStage, type Stage } from '../connections/stage'
import { openDatabase } from '../database'
import type { Json } from '../faults/asking'
import { forFile } from '../for-file'
import type { Customer } from '../rig'

/** A gateway with a model that costs, and its database. */
export interface BilledStage extends Stage {
  sql: SQL
}

async function open(): Promise<BilledStage> {
  const stage = await openStage()
  const sql = await openDatabase(stage.gateway.dataDir)
  await stage.gateway.admin('POST', '/models', {
    id: 'sandbox/priced',
    name: 'Priced',
    upstream_model: 'echo',
    category: 'chat',
    pricing: { input: 100, output: 400 },
  })
  return {
    ...stage,
    sql,
    async [Symbol.asyncDispose]() {
      await sql[Symbol.asyncDispose]()
      await stage[Symbol.asyncDispose]()
    },
  }
}

/** One for all tests of the file that calls this. */
export function billedStage() {
  const stage = forFile(open, async (opened) => {
    opened.gateway.recorder.verify()
    await opened[Symbol.asyncDispose]()
  })
  return {
    stage,
    read: (customer: Customer, path: string) =>
      call(stage().gateway, customer, `GET /billing${path}`),
    grant: (fields: Json) => stage().gateway.admin('POST', '/credits/grant', fields),
  }
}
