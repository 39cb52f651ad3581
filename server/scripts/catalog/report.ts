import type { CatalogFile } from '../../src/catalog/built-in'
import { firstClass, type Merged } from './merge'
import { packages } from './packages'
import { differences } from './price'

interface Reported {
  merged: Merged[]
  file: CatalogFile
  before: CatalogFile
  on: string
}

/** Older than this a source is called stale. */
const staleDays = 45

const daysBetween = (from: string, until: string) =>
  Math.round((Date.parse(until) - Date.parse(from)) / 86_400_000)

/** What changed, and what to look at before it is committed. */
export function toReport({ merged, file, before, on }: Reported): string {
  const [known, now] = [before, file].map(
    ({ models }) => new Map(models.map((entry) => [entry.id, entry])),
  )
  const added = file.models.filter(({ id }) => !known?.has(id)).map(({ id }) => id)
  const gone = before.models.filter(({ id }) => !now?.has(id)).map(({ id }) => id)
  const repriced = file.models.flatMap(({ id, price }) => {
    const earlier = known?.get(id)?.price
    const found = price && earlier ? differences(earlier, price) : []
    return found.length > 0 ? [`${id}: ${found.join('; ')}`] : []
  })
  const stale = packages.filter(({ published }) => daysBetween(published, on) > staleDays)
  const isStale = (source: string | null) => stale.some(({ key }) => key === source)
  return [
    `# The catalogue of ${on}`,
    section(
      'Sources',
      packages.map(
        ({ key, name, version, published }) =>
          `${name} ${version}, ${published}${isStale(key) ? ': STALE' : ''}`,
      ),
    ),
    section('Models of first-class providers without a price: not listed', missingOf(merged)),
    section('Listed without a price', unpricedOf(merged)),
    section(
      'Prices from stale sources alone',
      merged.flatMap(({ entry, priceFrom }) =>
        isStale(priceFrom) ? [`${entry.id}: ${priceFrom}`] : [],
      ),
    ),
    section(
      'Sources that differ by more than 1 %: first the price that is taken',
      differingOf(merged),
    ),
    section('New models', added),
    section('Models that are gone', gone),
    section('Other prices than before', repriced),
  ].join('\n')
}

const section = (title: string, lines: readonly string[]) =>
  `\n## ${title} (${lines.length})\n\n${lines.map((line) => `- ${line}`).join('\n')}\n`

const missingOf = (merged: Merged[]) =>
  merged.filter(({ isMissing }) => isMissing).map(({ entry }) => entry.id)

const unpricedOf = (merged: Merged[]) =>
  merged.filter(({ entry, isMissing }) => !entry.price && !isMissing).map(({ entry }) => entry.id)

/** Those of first-class providers first. */
const differingOf = (merged: Merged[]) =>
  [true, false].flatMap((wanted) =>
    merged
      .filter(({ entry: { id } }) => firstClass.has(id.slice(0, id.indexOf('/'))) === wanted)
      .flatMap(({ entry, priceFrom, differing }) =>
        Object.entries(differing).map(
          ([source, found]) => `${entry.id}: ${priceFrom} / ${source}: ${found.join('; ')}`,
        ),
      ),
  )
