import { Button, Group, Modal, Stack, Text } from '@mantine/core'

interface Props {
  onLeave: () => void
  onClose: () => void
}

/** Above the dialog that has the form. */
const zIndex = 900

/** Keeps a key from the dialog below: Escape would close it, with what was typed in it. */
const isOnTop = { 'data-mantine-stop-propagation': 'true' }

/** Asks before unsaved changes are discarded. */
export const LeaveDialog = ({ onLeave, onClose }: Props) => (
  <Modal
    opened
    onClose={onClose}
    closeOnEscape={false}
    withCloseButton={false}
    title="Discard unsaved changes?"
    zIndex={zIndex}
  >
    <Stack onKeyDown={({ key }) => key === 'Escape' && onClose()}>
      <Text size="sm">This page has changes that are not saved. Leaving discards them.</Text>
      <Group justify="flex-end">
        <Button variant="default" onClick={onClose} data-autofocus {...isOnTop}>
          Stay
        </Button>
        <Button color="red" onClick={onLeave} {...isOnTop}>
          Discard changes
        </Button>
      </Group>
    </Stack>
  </Modal>
)
