/**
 * Names the models of first-class providers that newer releases of the catalogue's sources have, and models.json has
 * not: whether it is time to take them.
 *
 *     npm run catalog:news
 *
 * Nothing is written, and registries that cannot be reached are no failure. Newer archives are read as data, like the
 * pinned ones, without a hash to compare with: to take one, review it and pin it in `catalog/sources.json`.
 */
import type { CatalogFile } from '../src/catalog/catalog-file'
import { releasesOf } from './catalog/entry'
import { toUnixSeconds } from './catalog/facts'
import { merge } from './catalog/merge'
import { findNews, formatNews } from './catalog/news'
import { findNewer, openPackage, openUnpinned, packages, type Package } from './catalog/packages'
import { readSources } from './catalog/read-sources'

const today = new Date().toISOString().slice(0, 10)

async function findNewerPackages(): Promise<Map<string, Package>> {
  const newer = new Map<string, Package>()
  for (const source of packages) {
    const found = await findNewer(source)
    if (!found) continue
    newer.set(source.key, found)
    console.log(
      `${found.name} ${found.version} of ${found.published} is newer than ${source.version}.`,
    )
  }
  return newer
}

async function report(): Promise<void> {
  const newer = await findNewerPackages()
  if (newer.size === 0) {
    console.log('The sources of the catalogue are the newest releases.')
    return
  }
  const sources = await readSources(today, async (key) => {
    const release = newer.get(key)
    const source = packages.find((one) => one.key === key)
    if (!source) throw new Error(`sources.json has no ${key}.`)
    return release ? openUnpinned(release) : openPackage(source)
  })
  const file: CatalogFile = await Bun.file(
    new URL('../src/catalog/models.json', import.meta.url),
  ).json()
  const earlier = new Map(file.models.map(({ id, created }) => [id, created]))
  const on = toUnixSeconds(today) ?? 0
  const releases = releasesOf([sources.piAi, sources.litellm, sources.modelsDev], earlier, on)
  const { flagships, others } = findNews(
    new Set(earlier.keys()),
    merge(sources, { releases, earlier, on }),
  )
  console.log(`${flagships.length} models that the catalogue has not, of their makers:`)
  for (const entry of flagships) console.log(`  ${formatNews(entry)}`)
  console.log(`${others.length} more at first-class hosts.`)
}

try {
  await report()
} catch (thrown) {
  const reason = thrown instanceof Error ? thrown.message : 'unknown error'
  console.log(`The newest releases could not be read: ${reason}`)
}
