import type { SQL } from 'bun'
import { paidBy, createPaidFixtureWith, type PaidFixture } from './fixture'
import { startStripeDouble } from './stripe-double'
import { openDatabase } from '../../harness/database'
import { forFile } from '../../harness/for-file'
import { expectSoundLedger } from '../../harness/ledger-oracle'

async function open(environment: Record<string, string>): Promise<PaidFixture & { sql: SQL }> {
  const double = startStripeDouble()
  const fixture = await createPaidFixtureWith(double, { ...paidBy(double), ...environment })
  const sql = await openDatabase(fixture.gateway.dataDir)
  return {
    ...fixture,
    sql,
    async [Symbol.asyncDispose]() {
      await sql[Symbol.asyncDispose]()
      await fixture[Symbol.asyncDispose]()
    },
  }
}

/** One for all tests of the file that calls this, whose ledger is in order at the end. */
export const usePaidFixture = (environment: Record<string, string> = {}) =>
  forFile(
    () => open(environment),
    async (fixture) => {
      fixture.gateway.recorder.verify()
      await expectSoundLedger(fixture.sql)
      await fixture[Symbol.asyncDispose]()
    },
  )
