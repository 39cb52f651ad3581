import { join } from 'node:path'
import { createAppWithoutServices } from './app-without-services'
import { registryOf } from '../src/http/guards'
import { describeInterface } from '../src/http/openapi'

/**
 * `openapi.ts [--check] [file]` writes `openapi.json` and `openapi-operator.json` at the root of the repository, or the
 * former to another file, from the routes, without a database or a socket. `--check` writes nothing and fails when the file
 * is not what the routes say. `--routes` prints all routes instead, those of operators too, each with
 * what it says about who may call it.
 */
const words = process.argv.slice(2).filter(Boolean)
const isCheck = words.includes('--check')
const named = words.find((word) => !word.startsWith('--'))
const root = join(import.meta.dir, '../..')

const app = createAppWithoutServices()
if (words.includes('--routes')) {
  await Bun.write(Bun.stdout, JSON.stringify(registryOf(app)))
  process.exit(0)
}

const files: [path: string, audience?: 'operator'][] =
  named === undefined
    ? [[`${root}/openapi.json`], [`${root}/openapi-operator.json`, 'operator']]
    : [[named]]

for (const [path, audience] of files) {
  const described = await describeInterface(app, audience)
  if (!isCheck) {
    await Bun.write(path, described)
    continue
  }
  const file = Bun.file(path)
  const committed = (await file.exists()) ? await file.text() : ''
  if (committed !== described) {
    console.error(
      `${path} is not what the routes say. Run: npx tollgate run server/scripts/openapi.ts`,
    )
    process.exit(1)
  }
}
process.exit(0)
