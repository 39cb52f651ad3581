// Writes the bill of materials: every runtime and build dependency of the server, as CycloneDX 1.5 in
// JSON, from the lockfile only. The same lockfile gives the same text. npm's own command omits packages that
// a development package depends on as well (npm 11), and those of other systems. Run as: npm run --silent sbom
import { join } from 'node:path'
import { z } from 'zod'
import { guardOutput } from '../src/server/command-output'
import { version } from '../../package.json'

const Package = z.object({
  name: z.string().optional(),
  version: z.string().optional(),
  license: z.string().optional(),
  integrity: z.string().optional(),
  link: z.boolean().default(false),
  dev: z.boolean().default(false),
  optional: z.boolean().default(false),
})
const Lock = z.object({ packages: z.record(z.string(), Package) })

/** Converts `sha512-<base64>` to the hashes of the format. */
function hashesOf(integrity: string) {
  const [algorithm = '', digest = ''] = integrity.split('-', 2)
  const content = Buffer.from(digest, 'base64').toString('hex')
  return [{ alg: algorithm.toUpperCase().replace('SHA', 'SHA-'), content }]
}

/** Converts a licence: an SPDX id, or an expression of several. */
const licenceOf = (license: string) =>
  /^[\w.-]+$/.test(license) ? { license: { id: license } } : { expression: license }

const lock = Lock.parse(await Bun.file(join(import.meta.dir, '../../package-lock.json')).json())
const components = Object.entries(lock.packages).flatMap(([path, it]) => {
  const name = it.name ?? path.split('node_modules/').at(-1) ?? ''
  if (!path.includes('node_modules/') || it.link || it.dev || it.version === undefined) return []
  const purl = `pkg:npm/${name.replace('@', '%40')}@${it.version}`
  return {
    type: 'library',
    'bom-ref': purl,
    name,
    version: it.version,
    // Packages for several systems, of which a machine installs its own.
    scope: it.optional ? 'optional' : 'required',
    purl,
    ...(it.integrity && { hashes: hashesOf(it.integrity) }),
    ...(it.license && { licenses: [licenceOf(it.license)] }),
  }
})
guardOutput()
const unique = new Map(components.map((component) => [component.purl, component]))
const bill = {
  $schema: 'http://cyclonedx.org/schema/bom-1.5.schema.json',
  bomFormat: 'CycloneDX',
  specVersion: '1.5',
  version: 1,
  metadata: {
    component: {
      type: 'application',
      'bom-ref': `pkg:npm/tollgate@${version}`,
      name: 'tollgate',
      version,
      licenses: [{ license: { id: 'Apache-2.0' } }],
      purl: `pkg:npm/tollgate@${version}`,
    },
  },
  components: [...unique.values()].toSorted((one, other) => (one.purl < other.purl ? -1 : 1)),
}
process.stdout.write(`${JSON.stringify(bill, undefined, 2)}\n`)
