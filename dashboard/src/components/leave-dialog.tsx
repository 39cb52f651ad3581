import { Button, Group, Modal, Stack, Text } from '@mantine/core'

interface Props {
  onLeave: () => void
  onClose: () => void
}

/** Above the dialog that has the form. */
const zIndex = 900

/** Asks before unsaved changes are discarded. */
export const LeaveDialog = ({ onLeave, onClose }: Props) => (
  <Modal opened onClose={onClose} title="Discard unsaved changes?" zIndex={zIndex}>
    <Stack>
      <Text size="sm">This page has changes that are not saved. Leaving discards them.</Text>
      <Group justify="flex-end">
        <Button variant="default" onClick={onClose} data-autofocus>
          Stay
        </Button>
        <Button color="red" onClick={onLeave}>
          Discard changes
        </Button>
      </Group>
    </Stack>
  </Modal>
)
