import {
  Anchor,
  Button,
  Group,
  Image,
  NumberInput,
  Select,
  SimpleGrid,
  Stack,
  Text,
  Textarea,
} from '@mantine/core'
import { useLocation } from '@tanstack/react-router'
import { useState, type ReactNode } from 'react'
import { formatCount } from '../../format/figures'
import { estimateImages } from './media-estimate'
import { MediaFrame } from './media-frame'
import { createImages, type Picture } from './media-queries'
import { useMediaModel } from './use-media-model'
import { useRequest } from './use-request'

const sizes = [
  '1024x1024',
  '1536x1024',
  '1024x1536',
  '1792x1024',
  '1024x1792',
  '512x512',
  '256x256',
]
const qualities = ['low', 'medium', 'high', 'standard', 'hd']
const maxImages = 10

interface Fields {
  prompt: string
  size: string
  quality: string
  n: number
}

interface FieldsProps {
  fields: Fields
  onChange: (fields: Fields) => void
}

const RequestFields = ({ fields, onChange }: FieldsProps) => (
  <>
    <Textarea
      label="Prompt"
      description="What the images show."
      autosize
      minRows={3}
      maxRows={10}
      maxLength={64_000}
      value={fields.prompt}
      onChange={(event) => onChange({ ...fields, prompt: event.currentTarget.value })}
    />
    <Group grow align="flex-start" gap="sm">
      <Select
        label="Size"
        placeholder="Default"
        data={sizes}
        clearable
        clearButtonProps={{ 'aria-label': 'Use the default size' }}
        value={fields.size || null}
        onChange={(size) => onChange({ ...fields, size: size ?? '' })}
      />
      <Select
        label="Quality"
        placeholder="Default"
        data={qualities}
        clearable
        clearButtonProps={{ 'aria-label': 'Use the default quality' }}
        value={fields.quality || null}
        onChange={(quality) => onChange({ ...fields, quality: quality ?? '' })}
      />
      <NumberInput
        label="Number"
        min={1}
        max={maxImages}
        allowDecimal={false}
        clampBehavior="strict"
        value={fields.n}
        onChange={(n) => onChange({ ...fields, n: Number(n) || 1 })}
      />
    </Group>
  </>
)

const extensionOf = (data: string) => /^data:image\/(\w+)/.exec(data)?.[1] ?? 'png'

/** One picture of the answer, or the link to it: pages load nothing from elsewhere. */
const Shown = ({ picture: { data, url, revisedPrompt }, prompt, number }: ShownProps) => (
  <Stack gap="xs">
    {data ? (
      <>
        <Image src={data} alt={`${number}: ${revisedPrompt ?? prompt}`} radius="sm" />
        {revisedPrompt && (
          <Text size="xs" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
            {revisedPrompt}
          </Text>
        )}
        <Group>
          <Button
            component="a"
            href={data}
            download={`image-${number}.${extensionOf(data)}`}
            size="xs"
            variant="default"
            aria-label={`Download image ${number}`}
          >
            Download
          </Button>
        </Group>
      </>
    ) : (
      <Anchor href={url} target="_blank" rel="noreferrer" size="sm" underline="always">
        Open image {number}
      </Anchor>
    )}
  </Stack>
)

interface ShownProps {
  picture: Picture
  prompt: string
  /** From 1 on. */
  number: number
}

/** Pictures of a text. */
export function ImagePlayground({ kinds }: { kinds: ReactNode }) {
  const model = useMediaModel('image')
  const initial = useLocation({ select: ({ state }) => state.message })
  const [fields, setFields] = useState<Fields>({
    prompt: initial ?? '',
    size: '',
    quality: '',
    n: 1,
  })
  const { run, ...outcome } = useRequest<Picture[]>()
  const pictures = outcome.result ?? []
  const { prompt, size, quality, n } = fields
  const send = () =>
    void run((signal) =>
      createImages(
        { model: model.model, prompt, n, size: size || undefined, quality: quality || undefined },
        signal,
      ),
    )
  return (
    <MediaFrame
      kind="image"
      kinds={kinds}
      model={model}
      fields={<RequestFields fields={fields} onChange={setFields} />}
      action={n === 1 ? 'Create image' : 'Create images'}
      isReady={model.model !== '' && prompt.trim() !== ''}
      onSend={send}
      estimate={model.known && estimateImages(model.known.pricing, fields)}
      outcome={outcome}
      announcement={pictures.length > 0 ? `${formatCount(pictures.length, 'image')} created.` : ''}
      empty="The images appear here."
    >
      {pictures.length > 0 && (
        <SimpleGrid cols={{ base: 1, xs: Math.min(2, pictures.length) }}>
          {pictures.map((picture, index) => (
            <Shown key={index} picture={picture} prompt={prompt} number={index + 1} />
          ))}
        </SimpleGrid>
      )}
    </MediaFrame>
  )
}
