import type { Kysely } from 'kysely'
import { Migrator, type Migration } from 'kysely/migration'
import * as accountsAndCatalogue from './migrations/0001-accounts-and-catalogue'
import * as money from './migrations/0002-money'
import * as limits from './migrations/0003-limits'
import * as audit from './migrations/0004-audit'
import * as idempotency from './migrations/0005-idempotency'
import * as config from './migrations/0006-config'
import * as connectionOptions from './migrations/0007-connection-options'
import * as organizations from './migrations/0008-organizations-and-connections'
import * as namesOfModels from './migrations/0009-names-of-models'
import * as earnings from './migrations/0010-earnings'
import * as mailAndInbox from './migrations/0011-mail-and-inbox'
import * as requestLog from './migrations/0012-request-log'
import * as settingsAndSharedLimits from './migrations/0013-settings-and-shared-limits'
import * as payments from './migrations/0014-payments'
import * as alerts from './migrations/0015-alerts'
import * as showcase from './migrations/0016-showcase'
import * as promptsAndSupport from './migrations/0017-prompts-and-support'
import * as signIn from './migrations/0020-sign-in'
import * as invitationsAndAutomation from './migrations/0018-invitations-and-automation'
import * as pricesOverTime from './migrations/0021-prices-over-time'
import * as auditTrail from './migrations/0022-audit-trail'
import * as paymentComparison from './migrations/0023-payment-comparison'
import * as held from './migrations/0024-held'
import type { Schema } from './schema'
import { StartError } from '../config'

/** In order; a migration that has been released is never changed. */
const migrations: Record<string, Migration> = {
  '0001-accounts-and-catalogue': accountsAndCatalogue,
  '0002-money': money,
  '0003-limits': limits,
  '0004-audit': audit,
  '0005-idempotency': idempotency,
  '0006-config': config,
  '0007-connection-options': connectionOptions,
  '0008-organizations-and-connections': organizations,
  '0009-names-of-models': namesOfModels,
  '0010-earnings': earnings,
  '0011-mail-and-inbox': mailAndInbox,
  '0012-request-log': requestLog,
  '0013-settings-and-shared-limits': settingsAndSharedLimits,
  '0014-payments': payments,
  '0015-alerts': alerts,
  '0016-showcase': showcase,
  '0017-prompts-and-support': promptsAndSupport,
  '0020-sign-in': signIn,
  '0018-invitations-and-automation': invitationsAndAutomation,
  '0021-prices-over-time': pricesOverTime,
  '0022-audit-trail': auditTrail,
  '0023-payment-comparison': paymentComparison,
  '0024-held': held,
}

/**
 * Brings the schema up to date. Any number of processes may call it at once: they queue at a lock
 * in the database, and the first does the work. Throws `StartError`.
 */
export async function migrate(db: Kysely<Schema>): Promise<void> {
  const migrator = new Migrator({
    db,
    provider: { getMigrations: () => Promise.resolve(migrations) },
  })
  const { error, results = [] } = await migrator.migrateToLatest()
  if (!error) return
  const failed = results.find(({ status }) => status === 'Error')?.migrationName
  throw new StartError(
    `The database could not be brought up to date${failed ? ` (${failed})` : ''}: ${
      error instanceof Error ? error.message : 'unknown error'
    }`,
    { cause: error },
  )
}
