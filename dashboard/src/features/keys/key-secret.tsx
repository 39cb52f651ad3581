import { Alert, Button, Group, Modal, Stack } from '@mantine/core'
import { Copy } from '../../components/copy'
import { NewSecret } from '../../components/secret-once'

interface Props {
  /** The name of the key. */
  name: string
  secret: string
  onClose: () => void
}

/** Shows a secret once; only its button closes the dialog, so that a stray click does not lose the secret. */
export const KeySecret = ({ name, secret, onClose }: Props) => (
  <Modal
    opened
    onClose={onClose}
    title={`API key ${name}`}
    closeOnClickOutside={false}
    closeOnEscape={false}
    withCloseButton={false}
  >
    <Stack gap="sm">
      <Alert color="yellow">Copy the key now and store it safely. It is not shown again.</Alert>
      <NewSecret label="API key" secret={secret} />
      <Group justify="space-between">
        <Copy value={secret} label="Copy" />
        <Button onClick={onClose}>Done</Button>
      </Group>
    </Stack>
  </Modal>
)
