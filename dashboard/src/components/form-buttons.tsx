import { Button, Group } from '@mantine/core'

interface Props {
  /** The submit action, as a verb. */
  label: string
  isBusy: boolean
  onCancel: () => void
}

export const FormButtons = ({ label, isBusy, onCancel }: Props) => (
  <Group justify="flex-end" mt="xs">
    <Button variant="default" onClick={onCancel}>
      Cancel
    </Button>
    <Button type="submit" loading={isBusy}>
      {label}
    </Button>
  </Group>
)
