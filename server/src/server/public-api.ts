import type { Kysely } from 'kysely'
import { version } from '../../package.json'
import { createConfigurationView, type ConfigurationPorts } from '../api/public/configuration'
import { createOrganizationView } from '../api/public/organizations'
import { createProfileView } from '../api/public/profiles'
import { createProviderView } from '../api/public/providers'
import { PublicServed, type ServedBy } from '../api/public/served-models'
import { createServerView } from '../api/public/servers'
import type { Catalog } from '../catalog/catalog'
import type { Schema } from '../platform/db/schema'
import { createBrandingStore } from '../platform/settings/branding'
import type { LiveSettings } from '../platform/settings/live-settings'

interface Dependencies {
  db: Kysely<Schema>
  catalog: Catalog
  settings: LiveSettings
  /** The server's address for callers, if it is set. */
  baseUrl: string | undefined
  oauthProviders: string[]
  identityProvider: ConfigurationPorts['identityProvider']
  takesPayments: boolean
  sendsMail: boolean
  servedBy: ServedBy
}

/** Creates the stores of the public routes. */
export function createPublicStores(dependencies: Dependencies) {
  const { db, catalog, settings, servedBy, ...configured } = dependencies
  const served = new PublicServed(db, servedBy)
  const branding = createBrandingStore(db)
  const providers = createProviderView(db, catalog)
  return {
    branding,
    publicProviders: providers,
    publicConfiguration: createConfigurationView({
      db,
      settings,
      branding,
      version,
      ...configured,
    }),
    publicOrganizations: createOrganizationView(db, served),
    publicServers: createServerView(db, served),
    publicProfiles: createProfileView({ db, providers, served }),
  }
}
