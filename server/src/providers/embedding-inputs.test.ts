import { expect, test } from 'bun:test'
import { checkInputs, type InputKinds } from './embedding-inputs'
import type { EmbeddingItem } from '../wire/embedding-request'

const text = { text: 'a' }
const image = { image: 'https://images.example/a.png' }
const items: Record<string, EmbeddingItem> = {
  text: 'a',
  image: { parts: [image] },
  'text and image': { parts: [text, image] },
  'two texts': { parts: [text, text] },
  'two images': { parts: [image, image] },
}
const acceptedInputs: Record<InputKinds, string[]> = {
  text: ['text'],
  one: ['text', 'image'],
  pair: ['text', 'image', 'text and image'],
  mixed: Object.keys(items),
}

const isKinds = (name: string): name is InputKinds => Object.hasOwn(acceptedInputs, name)

test.each(Object.keys(acceptedInputs).filter(isKinds))(
  '%s accepts its declared inputs, and rejects the rest',
  (kinds) => {
    for (const [name, item] of Object.entries(items)) {
      const check = () => checkInputs(['first', item], kinds)
      if (acceptedInputs[kinds].includes(name)) expect(check).not.toThrow()
      else {
        const refused = { status: 400, code: 'invalid_request', param: 'input.1' }
        expect(check, name).toThrow(expect.objectContaining(refused))
      }
    }
  },
)
