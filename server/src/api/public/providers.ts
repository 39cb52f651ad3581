import type { Kysely } from 'kysely'
import { readRecentResults, toHealthStatus } from './health'
import { deriveProviderId } from './ids'
import type { Catalog } from '../../catalog/catalog'
import { writesText, type Model } from '../../catalog/model'
import { CachedValue } from '../../platform/cached-value'
import type { Schema } from '../../platform/db/schema'
import { providers as registry } from '../../providers/registry'
import type { Provider } from '../../providers/provider'

const keepMs = 15_000

/** The description of a provider that an operator added. */
interface Row {
  id: string
  key: string
  description: string | null
  website: string | null
  logo_url: string | null
}

/** A provider as the public sees it. */
export interface Introduced extends Row {
  name: string
  models: readonly Model[]
}

/** The public addresses of built-in providers; an operator's own provider may have a private one. */
const addresses = new Map(registry.map(({ key, baseUrl }) => [key, baseUrl]))

function addressOf(key: string): string | null {
  const address = addresses.get(key)
  return address?.startsWith('https://') && !address.includes('{') ? address : null
}

const streams = ({ embeddings }: Provider, models: readonly Model[]) =>
  models.length === 0
    ? embeddings !== 'only'
    : models.some((model) => writesText(model.category) && model.capabilities.streaming)

/** Lists the providers of the catalogue, without authentication. Source: contract 9.1. */
export function createProviderView(db: Kysely<Schema>, catalog: Catalog) {
  const rows = new CachedValue({ read: () => readRows(db), keepMs })
  const fared = new CachedValue({
    read: () =>
      readRecentResults(
        db,
        [...catalog.snapshot.connections.values()].flat().map(({ id }) => id),
      ),
    keepMs,
  })

  async function introduced(): Promise<Introduced[]> {
    const stored = await rows.get()
    const { providers, models } = catalog.snapshot
    const enabled = [...models.values()].filter((model) => model.enabled)
    const byProvider = Map.groupBy(enabled, ({ provider }) => provider)
    return [...providers.values()]
      .map(({ key, name, website }) => {
        const derived = {
          id: deriveProviderId(key),
          key,
          description: null,
          website,
          logo_url: null,
        }
        return { ...derived, ...stored.get(key), name, models: byProvider.get(key) ?? [] }
      })
      .toSorted((one, other) => (one.name.toLowerCase() < other.name.toLowerCase() ? -1 : 1))
  }

  return {
    introduced,
    async list() {
      const [all, recent] = await Promise.all([introduced(), fared.get()])
      const { providers, connections } = catalog.snapshot
      const listed = all.flatMap(({ models, ...fields }) => {
        const provider = providers.get(fields.key)
        if (!provider) return []
        return {
          ...fields,
          endpoint_url: addressOf(fields.key),
          model_count: models.length,
          supports_streaming: streams(provider, models),
          status: toHealthStatus(connections.get(fields.key) ?? [], recent),
        }
      })
      return { providers: listed }
    },
  }
}

export type ProviderView = ReturnType<typeof createProviderView>

async function readRows(db: Kysely<Schema>): Promise<Map<string, Row>> {
  const rows = await db
    .selectFrom('provider')
    .select(['id', 'key', 'description', 'website', 'logo_url'])
    .where('enabled', '=', true)
    .execute()
  return new Map(rows.map((row) => [row.key, row]))
}
