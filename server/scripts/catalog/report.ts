import type { CatalogFile } from '../../src/catalog/catalog-file'
import { firstClass } from './first-class'
import type { Merged } from './merge'
import { packages } from './packages'
import { differences } from './price'

interface Reported {
  merged: Merged[]
  file: CatalogFile
  before: CatalogFile
  on: string
}

/** Age above which a source counts as stale. */
const staleDays = 45

const daysBetween = (from: string, until: string) =>
  Math.round((Date.parse(until) - Date.parse(from)) / 86_400_000)

/** Formats the changes, and the points to review before a commit. */
export function toReport({ merged, file, before, on }: Reported): string {
  const [known, now] = [before, file].map(
    ({ models }) => new Map(models.map((entry) => [entry.id, entry])),
  )
  const added = file.models.filter(({ id }) => !known?.has(id)).map(({ id }) => id)
  const removed = before.models.filter(({ id }) => !now?.has(id)).map(({ id }) => id)
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
    section('Sources that differ by more than 1 %: the chosen price first', differingOf(merged)),
    section('New models', added),
    section('Removed models', removed),
    section('Changed prices', repriced),
  ].join('\n')
}

const section = (title: string, lines: readonly string[]) =>
  `\n## ${title} (${lines.length})\n\n${lines.map((line) => `- ${line}`).join('\n')}\n`

const missingOf = (merged: Merged[]) =>
  merged.filter(({ isMissing }) => isMissing).map(({ entry }) => entry.id)

const unpricedOf = (merged: Merged[]) =>
  merged.filter(({ entry, isMissing }) => !entry.price && !isMissing).map(({ entry }) => entry.id)

/** Lists differing prices, those of first-class providers first. */
const differingOf = (merged: Merged[]) =>
  [true, false].flatMap((isFirstClass) =>
    merged
      .filter(({ entry: { id } }) => firstClass.has(id.slice(0, id.indexOf('/'))) === isFirstClass)
      .flatMap(({ entry, priceFrom, differing }) =>
        Object.entries(differing).map(
          ([source, found]) => `${entry.id}: ${priceFrom} / ${source}: ${found.join('; ')}`,
        ),
      ),
  )
