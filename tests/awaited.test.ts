import { expect, test } from 'bun:test'
import { join } from 'node:path'

const root = join(import.meta.dir, '..')
/** An expectation of a promise, at the beginning of a statement. */
const unawaited = /^\s*(?:void )?expect\(.*\)(?:\.not)?\.(?:rejects|resolves)\./

/** The types of the runtime say that such an expectation is over at once, so that no lint rule sees it. */
test('expectations of promises are awaited: an ended test cannot fail', async () => {
  const found: string[] = []
  for (const folder of ['server', 'cli', 'connect', 'dashboard', 'bench', 'deploy', 'tests']) {
    for await (const file of new Bun.Glob('**/*.ts').scan({ cwd: join(root, folder) })) {
      if (file.includes('node_modules')) continue
      const text = await Bun.file(join(root, folder, file)).text()
      for (const [index, line] of text.split('\n').entries()) {
        if (unawaited.test(line)) found.push(`${folder}/${file}:${index + 1}`)
      }
    }
  }
  expect(found).toEqual([])
})
