import { Group, Select, TextInput, Textarea } from '@mantine/core'
import { useForm, type UseFormReturnType } from '@mantine/form'
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { api, bodyOf } from '../../api/client'
import { ResourceForm } from '../../components/resource-form'
import { categories, categoryNames, priorities, priorityNames } from './queries'

interface Fields {
  subject: string
  description: string
  category: (typeof categories)[number]
  priority: (typeof priorities)[number]
  request_id: string
}

interface Props {
  /** The request that the ticket concerns. */
  request: string | undefined
  onClose: () => void
}

export function NewTicket({ request, onClose }: Props) {
  const queries = useQueryClient()
  const navigate = useNavigate()
  const form = useForm<Fields>({
    initialValues: {
      subject: '',
      description: '',
      category: request === undefined ? 'other' : 'technical',
      priority: 'medium',
      request_id: request ?? '',
    },
  })
  const save = async (fields: Fields) => {
    const body = { ...fields, request_id: fields.request_id.trim() || null }
    const { id } = await bodyOf(api.POST('/api/support/tickets', { body }))
    await queries.invalidateQueries({ queryKey: ['tickets', 'list'] })
    await navigate({ to: '/support/$id', params: { id } })
  }
  return (
    <ResourceForm form={form} save={save} label="Send" onCancel={onClose}>
      <TextInput
        label="Subject"
        required
        maxLength={200}
        data-autofocus
        {...form.getInputProps('subject')}
      />
      <Textarea
        label="Description"
        description="What you did, what you expected and what happened. Do not include keys or passwords."
        required
        maxLength={10_000}
        autosize
        minRows={5}
        maxRows={16}
        {...form.getInputProps('description')}
      />
      <Kind form={form} />
      <TextInput
        label="Request ID"
        description="The ID of the request concerned, as shown in the logs"
        placeholder="req_…"
        {...form.getInputProps('request_id')}
      />
    </ResourceForm>
  )
}

const categoryChoices = categories.map((value) => ({ value, label: categoryNames[value] }))
const priorityChoices = priorities.map((value) => ({ value, label: priorityNames[value] }))

const Kind = ({ form }: { form: UseFormReturnType<Fields> }) => (
  <Group grow align="flex-start">
    <Select
      label="Category"
      allowDeselect={false}
      data={categoryChoices}
      {...form.getInputProps('category')}
    />
    <Select
      label="Priority"
      allowDeselect={false}
      data={priorityChoices}
      {...form.getInputProps('priority')}
    />
  </Group>
)
