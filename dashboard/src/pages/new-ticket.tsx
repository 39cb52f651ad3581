import { Group, Select, TextInput, Textarea } from '@mantine/core'
import { useForm, type UseFormReturnType } from '@mantine/form'
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { json } from '../api'
import { FormFrame } from '../components/form-frame'
import { useSubmit } from '../submit'
import { categories, categoryNames, priorities, priorityNames, ticketsEndpoint } from '../tickets'

interface Fields {
  subject: string
  description: string
  category: string
  priority: string
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
  const submission = useSubmit(async (fields: Fields) => {
    const sent = { ...fields, request_id: fields.request_id.trim() || null }
    const { id } = await (await ticketsEndpoint.$post(undefined, json(sent))).json()
    await queries.invalidateQueries({ queryKey: ['tickets', 'list'] })
    await navigate({ to: '/support/$id', params: { id } })
  }, form)
  return (
    <FormFrame form={form} submission={submission} label="Send" onCancel={onClose}>
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
    </FormFrame>
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
