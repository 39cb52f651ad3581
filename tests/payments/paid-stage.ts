import type { SQL } from 'bun'
import { paidBy, stageOf, type PaidStage } from './stage'
import { startStripeDouble } from './stripe-double'
import { openDatabase } from '../database'
import { forFile } from '../for-file'
import { expectSoundLedger } from '../money/ledger-oracle'

async function open(environment: Record<string, string>): Promise<PaidStage & { sql: SQL }> {
  const double = startStripeDouble()
  const stage = await stageOf(double, { ...paidBy(double), ...environment })
  const sql = await openDatabase(stage.gateway.dataDir)
  return {
    ...stage,
    sql,
    async [Symbol.asyncDispose]() {
      await sql[Symbol.asyncDispose]()
      await stage[Symbol.asyncDispose]()
    },
  }
}

/** One for all tests of the file that calls this, whose ledger is in order at the end. */
export const paidStage = (environment: Record<string, string> = {}) =>
  forFile(
    () => open(environment),
    async (stage) => {
      stage.gateway.recorder.verify()
      await expectSoundLedger(stage.sql)
      await stage[Symbol.asyncDispose]()
    },
  )
