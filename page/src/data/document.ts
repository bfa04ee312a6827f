/* Reads the document that the client put into the page: gzip, as base64. */
export async function unpack(base64: string): Promise<unknown> {
  const bytes = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));

  return new Response(stream).json();
}
