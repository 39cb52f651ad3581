import { describe, expect, test } from 'bun:test'
import { languages } from './code'

const base = 'http://localhost:8080/v1'

describe('the code of a request', () => {
  test.each([
    ['chat', '/chat/completions', 'messages'],
    ['completion', '/completions', 'prompt'],
    ['embedding', '/embeddings', 'input'],
    ['moderation', '/moderations', 'input'],
    ['rerank', '/rerank', 'documents'],
    ['image', '/images/generations', 'prompt'],
  ] as const)('for %s names the model, the endpoint and the key in every language', (...row) => {
    const [category, path, field] = row
    for (const { name, code } of languages) {
      const text = code({ base, model: 'acme/one', category })
      expect(text).toContain('acme/one')
      expect(text).toContain('TOLLGATE_KEY')
      expect(text).toContain(field)
      const isClient = name === 'Python' || name === 'TypeScript'
      expect(text).toContain(isClient ? base : `${base}${path}`)
    }
  })

  test('keeps a model whose id has quotes inside its text', async () => {
    const model = `acme/it's "one"`
    for (const { name, code } of languages) {
      const text = code({ base, model, category: 'chat' })
      if (name === 'curl') {
        const [, data = ''] = text.split(' -d ')
        const { stdout } = Bun.spawnSync(['sh', '-c', `printf %s ${data}`])
        expect(JSON.parse(stdout.toString())).toMatchObject({ model })
      } else if (name === 'Go' || name === 'Java') {
        const [line = ''] = /"\{.*\}"/.exec(text) ?? []
        expect(JSON.parse(JSON.parse(line))).toMatchObject({ model })
      } else expect(text).toContain(JSON.stringify(model))
    }
  })
})
