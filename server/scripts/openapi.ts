import { join } from 'node:path'
import {
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
} from 'kysely'
import pino from 'pino'
import { createPoolStore } from '../src/api/connection-pools/store'
import { createPlatformConnectionStore } from '../src/api/connections/platform-store'
import { createConnectionStore } from '../src/api/connections/store'
import { createConfigStore } from '../src/api/admin-config/store'
import { createHandleStore } from '../src/api/handles/store'
import { createCollectionStore } from '../src/api/model-collections/store'
import { createMappingStore } from '../src/api/model-mappings/store'
import { createModelStore } from '../src/api/admin-models/store'
import { createInvitationStore } from '../src/api/organizations/invitations'
import { createMemberStore } from '../src/api/organizations/members'
import { createOwnInvitationStore } from '../src/api/organizations/own-invitations'
import { createOrganizationStore } from '../src/api/organizations/store'
import { createCreditStore } from '../src/api/admin-credits/store'
import { createPlanStore } from '../src/api/admin-plans/store'
import { createProviderStore } from '../src/api/admin-providers/store'
import { createUserStore } from '../src/api/admin-users/store'
import { createApp, type AppPorts } from '../src/app'
import { Keyring } from '../src/auth/keyring'
import { createConversationStore } from '../src/automation/conversation'
import { Runs } from '../src/automation/runs'
import { createSessionStore } from '../src/automation/sessions'
import { createTemplateStore } from '../src/automation/templates'
import { AccountCatalogs } from '../src/catalog/account-catalog'
import { Catalog } from '../src/catalog/catalog'
import { readConfig } from '../src/config'
import type { Schema } from '../src/db/schema'
import type { SealingKeys } from '../src/db/sealed'
import { StreamWatch } from '../src/http/event-stream'
import { createGuards } from '../src/http/guards'
import { Claims } from '../src/idempotency/claims'
import { createClaimStore } from '../src/idempotency/store'
import { describeInterface } from '../src/http/openapi'
import { AddressRate } from '../src/policy/address-rate'
import { Door } from '../src/policy/door'
import { FailedAuthentications } from '../src/policy/failed-authentications'
import { Limits } from '../src/policy/limits'
import { MemoryCounters } from '../src/policy/memory-counters'
import { configRowIn } from '../src/settings/config-row'
import { LiveSettings } from '../src/settings/live-settings'
import { defaultSettings } from '../src/settings/settings'

/**
 * `openapi.ts [--check] [file]` writes `openapi.json` at the root of the repository, or another file,
 * from the routes, without a database or a socket. `--check` writes nothing and fails when the file
 * is not what the routes say.
 */
const words = process.argv.slice(2).filter(Boolean)
const isCheck = words.includes('--check')
const path = words.find((word) => word !== '--check') ?? join(import.meta.dir, '../../openapi.json')

const never = () => Promise.reject(new Error('this gateway only describes itself'))

function closedDoor(): Door {
  const limits = new Limits(new MemoryCounters())
  const failures = new FailedAuthentications({ perMinute: () => 1 })
  const keyring = new Keyring({ lookUp: never })
  const visitors = new AddressRate({ perMinute: () => 1 })
  const lastUse = { note: () => undefined }
  return new Door({ keyring, failures, limits, lastUse, visitors, apiPerMinute: () => 1 })
}

const changed = () => undefined

function storesOf(
  db: Kysely<Schema>,
  catalog: Catalog,
  settings: LiveSettings,
): AppPorts['stores'] {
  const sealingKeys: SealingKeys = [{ id: 'none', key: Buffer.alloc(32) }]
  const connecting = { db, catalog, sealingKeys, ask: never }
  return {
    config: createConfigStore(settings),
    users: createUserStore(db),
    plans: createPlanStore(db),
    credits: createCreditStore({ db, creditCame: never }),
    providers: createProviderStore(db, catalog),
    models: createModelStore(db, catalog),
    platformConnections: createPlatformConnectionStore(connecting),
    connections: createConnectionStore({ ...connecting, checkAddress: never, changed }),
    pools: createPoolStore({ db, catalog, changed }),
    organizations: createOrganizationStore({ db, catalog, changed }),
    members: createMemberStore({ db, catalog, changed }),
    invitations: createInvitationStore({ db, settings, baseUrl: undefined }),
    ownInvitations: createOwnInvitationStore({ db, changed }),
    mappings: createMappingStore({ db, checkName: never, preview: never, changed }),
    collections: createCollectionStore({ db, knownTo: never, changed: never }),
    handles: createHandleStore({ db, catalog, changed }),
  }
}

const automationOf = (db: Kysely<Schema>): AppPorts['automation'] => ({
  sessions: createSessionStore({ db, checkChat: never }),
  templates: createTemplateStore(db),
  conversations: createConversationStore(db, 1),
  runs: new Runs({ renew: never, everyMs: 1000, closeMs: 0, onError: () => undefined }),
  isUsable: never,
  onLost: () => undefined,
})

/** Nothing of this is ever called: routes are described, not served. */
function standIns(): AppPorts {
  const nothing = { models: [], providers: [], connections: [] }
  const db = new Kysely<Schema>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: (database) => new PostgresIntrospector(database),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
  })
  const catalog = new Catalog({ fixed: () => nothing, stored: never, onError: () => undefined })
  const settings = new LiveSettings({
    row: configRowIn(db),
    defaults: defaultSettings(readConfig({})),
    onError: () => undefined,
    onDamaged: () => undefined,
  })
  return {
    gateway: { chat: never, complete: never, embed: never, converse: never, count: never },
    catalog,
    accounts: new AccountCatalogs({
      account: never,
      organization: never,
      offeredElsewhere: never,
    }),
    collectionsFor: never,
    guards: createGuards(closedDoor(), 'nobody'),
    reply: {
      watch: new StreamWatch(readConfig({}).timers),
      claims: new Claims({
        store: createClaimStore(db),
        newClaimId: () => '',
        pause: never,
        onError: () => undefined,
      }),
      requestMs: 0,
      earlyHeadersMs: 0,
      onBroken: () => undefined,
    },
    readiness: never,
    stores: storesOf(db, catalog, settings),
    automation: automationOf(db),
    log: pino({ level: 'silent' }),
  }
}

const described = await describeInterface(createApp(standIns()))

if (isCheck) {
  const file = Bun.file(path)
  const committed = (await file.exists()) ? await file.text() : ''
  if (committed !== described) {
    console.error(`${path} is not what the routes say. Run: bun server/scripts/openapi.ts`)
    process.exit(1)
  }
} else {
  await Bun.write(path, described)
}
process.exit(0)
