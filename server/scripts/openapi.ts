import { join } from 'node:path'
import { createAppWithoutServices } from './app-without-services'
import { registryOf } from '../src/http/guards'
import { describeInterface } from '../src/http/openapi/document'
import type { Audience } from '../src/http/openapi/interfaces'

/**
 * `openapi.ts [--check] [file]` writes `openapi.json` and `openapi-operator.json` at the root of the repository, or the
 * former to another file, from the routes, without a database or a socket. `--check` writes nothing and fails when
 * the file differs from the routes. `--routes` prints all routes instead, operator routes included, each with
 * its access rule.
 */
const args = process.argv.slice(2).filter(Boolean)
const isCheck = args.includes('--check')
const named = args.find((argument) => !argument.startsWith('--'))
const root = join(import.meta.dir, '../..')

const app = createAppWithoutServices()
if (args.includes('--routes')) {
  await Bun.write(Bun.stdout, JSON.stringify(registryOf(app)))
  process.exit(0)
}

const files: [path: string, audience: Audience][] =
  named === undefined
    ? [
        [`${root}/openapi.json`, 'public'],
        [`${root}/openapi-operator.json`, 'operator'],
      ]
    : [[named, 'public']]

for (const [path, audience] of files) {
  const described = describeInterface(app, audience)
  if (!isCheck) {
    await Bun.write(path, described)
    continue
  }
  const file = Bun.file(path)
  const committed = (await file.exists()) ? await file.text() : ''
  if (committed !== described) {
    console.error(
      `${path} is out of date. Run: node bin/tollgate.mjs run server/scripts/openapi.ts`,
    )
    process.exit(1)
  }
}
process.exit(0)
