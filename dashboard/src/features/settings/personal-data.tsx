import { Button, Group, Modal, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useState } from 'react'
import { api } from '../../api/client'
import { Card } from '../../components/card'
import { ResourceForm } from '../../components/resource-form'

/** Downloads all data of the account, and deletes it. */
export function PersonalData({ email }: { email: string }) {
  const [isDeleting, setDeleting] = useState(false)
  return (
    <Card title="Your data">
      <Text size="sm" c="dimmed">
        All that belongs to your account, as lines of JSON without secrets.
      </Text>
      <Group>
        <Button component="a" variant="default" href="/api/account/export" download="account.jsonl">
          Download your data
        </Button>
        <Button variant="light" color="red" onClick={() => setDeleting(true)}>
          Delete account
        </Button>
      </Group>
      <Modal opened={isDeleting} onClose={() => setDeleting(false)} title="Delete your account?">
        <DeleteAccount email={email} onClose={() => setDeleting(false)} />
      </Modal>
    </Card>
  )
}

function DeleteAccount({ email, onClose }: { email: string; onClose: () => void }) {
  const form = useForm({
    initialValues: { email: '' },
    validate: {
      email: (entered) =>
        entered.trim().toLowerCase() === email ? null : 'Enter the address of your account.',
    },
  })
  const save = async (body: typeof form.values) => {
    await api.POST('/api/account/delete', { body })
    // The session has ended with the account.
    window.location.assign('/')
  }
  return (
    <ResourceForm form={form} save={save} label="Delete account" onCancel={onClose}>
      <Text size="sm">
        Keys, connections, logs, prompts and conversations are deleted at once. A remaining balance
        is lost. This cannot be undone.
      </Text>
      <TextInput
        label="Your email address"
        description={`To confirm, enter ${email}`}
        required
        autoComplete="off"
        data-autofocus
        {...form.getInputProps('email')}
      />
    </ResourceForm>
  )
}
