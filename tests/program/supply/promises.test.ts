import { expect, test } from 'bun:test'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

const root = join(import.meta.dir, '../../..')

test.each(['docs/contribute/security-tests.md', 'docs/operate/deployment.md'])(
  'the files that %s names as proof exist',
  async (page) => {
    const text = await readFile(join(root, page), 'utf8')
    const named = [...text.matchAll(/`((?:server|tests|deploy|docs)\/[^\s`*<>]+)`/g)]
    const paths = [...new Set(named.map(([, path = '']) => path.replace(/\/$/, '')))]
    const found = [
      ...new Bun.Glob('{server,tests,deploy,docs}/**/*').scanSync({
        cwd: root,
        dot: true,
        onlyFiles: false,
      }),
    ]
    expect(paths.length).toBeGreaterThan(3)
    expect(paths.filter((path) => !found.includes(path))).toEqual([])
  },
)
