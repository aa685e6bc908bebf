/** Where an operation on the content of a project is reached: `url` is documented, the alias answers alike. */
export interface ProjectUrls {
  url: string
  aliases: readonly string[]
}

/** `projectUrls('/knowledge/graph')` for an operation whose `params` have `project_id`; `also` where else it is looked for. */
export function projectUrls(path: string, ...also: string[]): ProjectUrls {
  const [url = '', ...aliases] = [path, ...also].flatMap((one) => [
    `/v2/:project_id${one}`,
    `/v2/projects/:project_id${one}`,
  ])
  return { url, aliases }
}
