import { expect, test } from 'bun:test'
import { join } from 'node:path'

const root = join(import.meta.dir, '../..')
const folders = ['server', 'cli', 'client', 'connect', 'dashboard/src', 'bench', 'deploy']
/** Files whose text is pinned: released migrations, as databases have them. */
const isPinned = (file: string) => /db\/migrations\/00[0-3]/.test(file)
const indirect = /\/\*\*\s*(?:\*\s*)?(What|Who|Whose|Where)\b[^\n]*/g

test('a docstring begins with a verb or names its noun', async () => {
  const found: string[] = []
  for (const folder of folders) {
    for await (const file of new Bun.Glob('**/*.{ts,tsx}').scan({ cwd: join(root, folder) })) {
      // Generated from the OpenAPI descriptions.
      if (file === 'schema.d.ts') continue
      if (/node_modules|\.test\.tsx?$/.test(file) || isPinned(file)) continue
      const text = await Bun.file(join(root, folder, file)).text()
      for (const [opening] of text.matchAll(indirect)) found.push(`${folder}/${file}: ${opening}`)
    }
  }
  expect(found).toEqual([])
})
