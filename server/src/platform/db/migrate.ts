import { sql, type Kysely } from 'kysely'
import { Migrator, type Migration, type MigrationResultSet } from 'kysely/migration'
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
import * as invitationsAndAutomation from './migrations/0018-invitations-and-automation'
import * as signIn from './migrations/0020-sign-in'
import * as pricesOverTime from './migrations/0021-prices-over-time'
import * as auditTrail from './migrations/0022-audit-trail'
import * as paymentComparison from './migrations/0023-payment-comparison'
import * as held from './migrations/0024-held'
import * as restored from './migrations/0025-restored'
import * as organizationTrail from './migrations/0026-organization-trail'
import * as gateways from './migrations/0027-gateways'
import * as connectionPrices from './migrations/0028-connection-prices'
import * as gatewayHours from './migrations/0029-gateway-hours'
import * as housePlan from './migrations/0030-house-plan'
import * as usageCancellations from './migrations/0031-usage-cancellations'
import * as leaseGenerations from './migrations/0032-lease-generations'
import * as balanceRises from './migrations/0033-balance-rises'
import * as seldomTokens from './migrations/0034-seldom-tokens'
import * as logCaches from './migrations/0035-log-caches'
import * as storedResponses from './migrations/0040-stored-responses'
import * as conversations from './migrations/0041-conversations'
import * as backgroundResponses from './migrations/0042-background-responses'
import * as measuredUnits from './migrations/0045-measured-units'
import * as limitSlices from './migrations/0046-limit-slices'
import * as logExport from './migrations/0047-log-export'
import * as keyRules from './migrations/0048-key-rules'
import * as failedLogs from './migrations/0049-failed-logs'
import * as invitationInviters from './migrations/0050-invitation-inviters'
import * as ordinaryOwner from './migrations/0051-ordinary-owner'
import * as appliedCatalog from './migrations/0052-applied-catalog'
import * as creditLine from './migrations/0053-credit-line'
import * as accountStorage from './migrations/0054-account-storage'
import * as answeredReclaims from './migrations/0055-answered-reclaims'
import * as clients from './migrations/0056-clients'
import * as longestPrompt from './migrations/0057-longest-prompt'
import * as kindsOfModels from './migrations/0058-kinds-of-models'
import * as addressesOfKeys from './migrations/0059-addresses-of-keys'
import * as imageAndSoundModels from './migrations/0060-image-and-sound-models'
import * as timeOfSound from './migrations/0061-time-of-sound'
import * as rulesOfKeys from './migrations/0062-rules-of-keys'
import * as mediaOfLogs from './migrations/0063-media-of-logs'
import * as sumsByTime from './migrations/0066-sums-by-time'
import * as notificationDestinations from './migrations/0067-notification-destinations'
import * as useOfMedia from './migrations/0068-use-of-media'
import * as networks from './migrations/0069-networks'
import * as budgets from './migrations/0070-budgets'
import * as mediaLimits from './migrations/0071-media-limits'
import * as limitShares from './migrations/0072-limit-shares'
import * as budgetNotices from './migrations/0073-budget-notices'
import * as identityProviderSessions from './migrations/0074-identity-provider-sessions'
import * as statements from './migrations/0075-statements'
import * as tags from './migrations/0076-tags'
import * as mediaUse from './migrations/0078-media-use'
import * as gatewayMedia from './migrations/0079-gateway-media'
import * as budgetFilters from './migrations/0080-budget-filters'
import * as scim from './migrations/0081-scim'
import * as auditDestinations from './migrations/0082-audit-destinations'
import * as providerCosts from './migrations/0083-provider-costs'
import * as invoices from './migrations/0084-invoices'
import * as organizationBudgets from './migrations/0085-organization-budgets'
import * as operatorRoles from './migrations/0086-operator-roles'
import * as creditNotes from './migrations/0087-credit-notes'
import * as notices from './migrations/0088-notices'
import * as budgetOverrides from './migrations/0089-budget-overrides'
import * as saml from './migrations/0090-saml'
import type { Schema } from './schema'
import { lacksPrivilege } from './violation'
import { StartError } from '../config/config'

/** They run in the order of their numbers, whatever the order here. One that has been released is never changed. */
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
  '0018-invitations-and-automation': invitationsAndAutomation,
  '0020-sign-in': signIn,
  '0021-prices-over-time': pricesOverTime,
  '0022-audit-trail': auditTrail,
  '0023-payment-comparison': paymentComparison,
  '0024-held': held,
  '0025-restored': restored,
  '0026-organization-trail': organizationTrail,
  '0027-gateways': gateways,
  '0028-connection-prices': connectionPrices,
  '0029-gateway-hours': gatewayHours,
  '0030-house-plan': housePlan,
  '0031-usage-cancellations': usageCancellations,
  '0032-lease-generations': leaseGenerations,
  '0033-balance-rises': balanceRises,
  '0034-seldom-tokens': seldomTokens,
  '0035-log-caches': logCaches,
  '0040-stored-responses': storedResponses,
  '0041-conversations': conversations,
  '0042-background-responses': backgroundResponses,
  '0045-measured-units': measuredUnits,
  '0046-limit-slices': limitSlices,
  '0047-log-export': logExport,
  '0048-key-rules': keyRules,
  '0049-failed-logs': failedLogs,
  '0050-invitation-inviters': invitationInviters,
  '0051-ordinary-owner': ordinaryOwner,
  '0052-applied-catalog': appliedCatalog,
  '0053-credit-line': creditLine,
  '0054-account-storage': accountStorage,
  '0055-answered-reclaims': answeredReclaims,
  '0056-clients': clients,
  '0057-longest-prompt': longestPrompt,
  '0058-kinds-of-models': kindsOfModels,
  '0059-addresses-of-keys': addressesOfKeys,
  '0060-image-and-sound-models': imageAndSoundModels,
  '0061-time-of-sound': timeOfSound,
  '0062-rules-of-keys': rulesOfKeys,
  '0063-media-of-logs': mediaOfLogs,
  '0066-sums-by-time': sumsByTime,
  '0067-notification-destinations': notificationDestinations,
  '0068-use-of-media': useOfMedia,
  '0069-networks': networks,
  '0070-budgets': budgets,
  '0071-media-limits': mediaLimits,
  '0072-limit-shares': limitShares,
  '0073-budget-notices': budgetNotices,
  '0074-identity-provider-sessions': identityProviderSessions,
  '0075-statements': statements,
  '0076-tags': tags,
  '0078-media-use': mediaUse,
  '0079-gateway-media': gatewayMedia,
  '0080-budget-filters': budgetFilters,
  '0081-scim': scim,
  '0082-audit-destinations': auditDestinations,
  '0083-provider-costs': providerCosts,
  '0084-invoices': invoices,
  '0085-organization-budgets': organizationBudgets,
  '0086-operator-roles': operatorRoles,
  '0087-credit-notes': creditNotes,
  '0088-notices': notices,
  '0089-budget-overrides': budgetOverrides,
  '0090-saml': saml,
}

/** The names of all migrations that this version knows, in the order in which they run. */
export const migrationNames: readonly string[] = Object.keys(migrations).toSorted()
const noMigration: Migration = { up: () => Promise.resolve() }

/** Returns the names of the applied migrations; none without a schema. */
export async function readMigrations(db: Kysely<Schema>): Promise<string[]> {
  const { rows: foundRows } = await sql<{ isThere: boolean }>`
    select to_regclass('kysely_migration') is not null as "isThere"`.execute(db)
  if (!foundRows[0]?.isThere) return []
  const { rows } = await sql<{ name: string }>`
    select name from kysely_migration order by name`.execute(db)
  return rows.map(({ name }) => name)
}

/**
 * Returns applied migrations of later versions: during an upgrade, a node of the earlier version may restart. Each
 * version keeps the schema compatible with the version before.
 */
async function ofLaterVersions(db: Kysely<Schema>): Promise<Record<string, Migration>> {
  const applied = await readMigrations(db)
  const later = applied.filter((name) => name > (migrationNames.at(-1) ?? ''))
  return Object.fromEntries(later.map((name) => [name, noMigration]))
}

/**
 * A pool that migrates: one connection does, while the other reads which migrations later versions have applied. A statement
 * may rewrite a large table, or wait for another process that does.
 */
export const migrationPool = { poolSize: 2, statementMs: 3_600_000 }

/**
 * Migrates the schema to this version, with a `migrationPool`. Any number of processes may call it at once: they queue at a lock in the
 * database, and the first one does the work. Resolves with the names of the applied migrations. Throws `StartError`.
 */
export async function migrate(db: Kysely<Schema>): Promise<string[]> {
  return namesOf(await migratorOf(db).migrateToLatest())
}

/**
 * Migrates within the transaction that `db`'s only connection is in, up to the migration `upTo`, or to the last one if
 * that is undefined.
 */
export async function migrateWithin(db: Kysely<Schema>, upTo?: string): Promise<void> {
  const options = { disableTransactions: true }
  const migrator = migratorOf(db)
  namesOf(
    upTo === undefined
      ? await migrator.migrateToLatest(options)
      : await migrator.migrateTo(upTo, options),
  )
}

const migratorOf = (db: Kysely<Schema>) =>
  new Migrator({
    db,
    provider: {
      getMigrations: async () => ({ ...migrations, ...(await ofLaterVersions(db)) }),
    },
  })

function namesOf({ error, results = [] }: MigrationResultSet): string[] {
  if (!error) return results.map(({ migrationName }) => migrationName)
  const failed = results.find(({ status }) => status === 'Error')?.migrationName
  const reason = error instanceof Error ? error.message : 'unknown error'
  const advice = lacksPrivilege(error)
    ? '. The role in DATABASE_URL must own the database and the tables in it: ask its administrator'
    : ''
  throw new StartError(
    `The database could not be brought up to date${failed ? ` (${failed})` : ''}: ${reason}${advice}`,
    { cause: error },
  )
}
