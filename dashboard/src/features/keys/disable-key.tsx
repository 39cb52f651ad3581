import { Modal, Radio, Stack, Text } from '@mantine/core'
import { useForm } from '@mantine/form'
import { ResourceForm } from '../../components/resource-form'
import type { KeyChanges } from './edit-key'
import type { Key } from './queries'

const hourMs = 3_600_000
const forever = 'forever'
const pauses = [
  { value: forever, label: 'Until you enable it again' },
  { value: String(hourMs), label: 'For 1 hour' },
  { value: String(24 * hourMs), label: 'For 24 hours' },
  { value: String(7 * 24 * hourMs), label: 'For 7 days' },
]

interface Props {
  one: Key
  change: (changes: KeyChanges) => Promise<unknown>
  onClose: () => void
}

/** Disables a key, for a while or until it is enabled again. */
export function DisableKey({ one, change, onClose }: Props) {
  const form = useForm({ initialValues: { pause: forever } })
  const save = async ({ pause }: { pause: string }) => {
    const end = pause === forever ? null : new Date(Date.now() + Number(pause)).toISOString()
    await change({ disabled: true, disabled_until: end })
    onClose()
  }
  return (
    <Modal opened onClose={onClose} title={`Disable ${one.name}?`}>
      <ResourceForm form={form} save={save} label="Disable" onCancel={onClose}>
        <Text size="sm">
          Requests with this key are rejected on every node within a second. Its secret, limits and
          spending stay.
        </Text>
        <Radio.Group label="How long" {...form.getInputProps('pause')}>
          <Stack gap="xs" mt={4}>
            {pauses.map((pause) => (
              <Radio key={pause.value} {...pause} />
            ))}
          </Stack>
        </Radio.Group>
      </ResourceForm>
    </Modal>
  )
}
