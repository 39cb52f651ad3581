import { Modal, Radio, Stack, Text } from '@mantine/core'
import { useForm } from '@mantine/form'
import { ResourceForm } from '../../components/resource-form'
import type { Key } from './queries'

const hourSeconds = 3600
const overlaps = [
  { value: '0', label: 'At once' },
  { value: String(hourSeconds), label: 'In 1 hour' },
  { value: String(24 * hourSeconds), label: 'In 24 hours' },
  { value: String(7 * 24 * hourSeconds), label: 'In 7 days' },
]

interface Props {
  one: Key
  /** Gives the key a new secret; the old one stays valid for so many seconds. */
  rotate: (overlapSeconds: number) => Promise<unknown>
  onClose: () => void
}

/** Rotates a key: its clients may use the old secret for a while. */
export function RotateKey({ one, rotate, onClose }: Props) {
  const form = useForm({ initialValues: { overlap: String(24 * hourSeconds) } })
  const save = async ({ overlap }: { overlap: string }) => {
    await rotate(Number(overlap))
    onClose()
  }
  return (
    <Modal opened onClose={onClose} title={`Rotate ${one.name}?`}>
      <ResourceForm form={form} save={save} label="Rotate" onCancel={onClose}>
        <Text size="sm">
          The key receives a new secret. Its permissions, limits, spending and expiry stay.
        </Text>
        <Radio.Group label="The old secret stops working" {...form.getInputProps('overlap')}>
          <Stack gap="xs" mt={4}>
            {overlaps.map((overlap) => (
              <Radio key={overlap.value} {...overlap} />
            ))}
          </Stack>
        </Radio.Group>
      </ResourceForm>
    </Modal>
  )
}
