import { expect, test } from 'bun:test'
import { bedrockImages } from './images'
import type { ImageTarget } from '../image-adapter'

const nova = 'amazon.nova-canvas-v1:0'
const png = { mimeType: 'image/png', base64: 'AAAA' }
const targetOf = (fields: Partial<ImageTarget> = {}): ImageTarget => ({
  upstreamModel: nova,
  count: 2,
  maxTokensPerImage: 0,
  inputs: [png],
  isVariation: true,
  ...fields,
})
const bodyOf = (fields?: Partial<ImageTarget>) =>
  bedrockImages.request({ prompt: '', size: '512x768' }, targetOf(fields)).body

test('a variation is a task of its own, with the image and without a text', () => {
  expect(bodyOf()).toEqual({
    taskType: 'IMAGE_VARIATION',
    imageVariationParams: { images: ['AAAA'] },
    imageGenerationConfig: { numberOfImages: 2, quality: 'standard', width: 512, height: 768 },
  })
})

test('a variation of an image that Amazon does not read is rejected', () => {
  const inputs = [{ ...png, mimeType: 'image/webp' }]
  expect(() => bodyOf({ inputs })).toThrow('PNG and JPEG')
})

test.each([
  [nova, true],
  ['us.amazon.nova-canvas-v1:0', true],
  ['amazon.titan-image-generator-v2:0', true],
  ['us.stability.stable-image-core-v1:1', false],
])('%s makes variations: %p', (model, isVarying) => {
  expect(bedrockImages.varies?.(model)).toBe(isVarying)
})
