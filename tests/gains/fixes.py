"""The fixes: programs, what reports say of them, and what is changed."""
import dataclasses


@dataclasses.dataclass(frozen=True)
class Fix:
    """One fix.

    program    the class that runs, of tests/workloads, bench/workloads or programs/
    package    Debian's source package that patches/NAME.patch is against, or None for a program of this tree
    jars       instead of those of bench/workloads: of /usr/share/java, or PACKAGE/JAR of a package that is unpacked and not installed
    finding    a regular expression: what a finding of the problem has in its words
    accesses   regular expressions of methods ("Class.method") that make the accesses which the fix removes, where it is they
               that go: then the gain is what the report says of their rows
    kinds      of pairs, with accesses
    rewritten  the methods that the fix rewrites: what they take with all that they call bounds what could be gained
    warm_up_s  of each JVM, where it takes longer than others'
    """

    name: str
    program: str
    finding: str
    package: str = None
    jars: tuple = ()
    accesses: tuple = ()
    kinds: tuple = ("dead_store", "silent_store", "silent_load")
    rewritten: tuple = ()
    options: tuple = ()
    warm_up_s: float = 5


FIXES = (
    # An array is cleared before it is filled; a table that does not change is summed again; marks are set that were set.
    Fix("clears", "Repairable", r"Repairable\.(clear|fill)", accesses=(r"Repairable\.clear",), kinds=("dead_store",)),
    Fix("sums", "Repairable", r"Repairable\.sum", accesses=(r"Repairable\.sum",), kinds=("silent_load",)),
    Fix("marks", "Repairable", r"Repairable\.mark", accesses=(r"Repairable\.mark",), kinds=("silent_store",)),
    # The check for duplicates of text: sorted maps of sorted sets of boxed coordinates, a map for each character.
    Fix("pdf-duplicates", "PdfText", r"TreeMap|java\.lang\.Float|PDFTextStripper\.processTextPosition", package="libpdfbox2-java",
        rewritten=(r"org\.apache\.pdfbox\.text\.PDFTextStripper\.processTextPosition",), warm_up_s=20),
    # LZ4 reads its input byte by byte through the bookkeeping of a buffer.
    Fix("lucene-lz4", "LuceneStored", r"readByte|LZ4\.decompress|ByteBuffersDataInput", package="lucene8",
        jars=("liblucene8-java/lucene-core-8.7.0", "liblucene8-java/lucene-analyzers-common-8.7.0"), rewritten=(r"org\.apache\.lucene\.util\.compress\.LZ4\.decompress",)),
    # A declaration is copied to compare its name.
    Fix("xerces-declarations", "DtdAttributes", r"XMLAttributeDecl|XMLSimpleType|DTDGrammar|QName", package="libxerces2-java",
        jars=("libxerces2-java/xercesImpl", "libxml-commons-resolver1.1-java/xml-resolver"), rewritten=(r"org\.apache\.xerces\.impl\.dtd\.DTDGrammar\.getAttributeDecl",)),
    # Linear searches.
    Fix("chart-timeline", "ChartTimeline", r"SegmentedTimeline", package="libjfreechart-java",
        rewritten=(r"org\.jfree\.chart\.axis\.SegmentedTimeline\.getExceptionSegmentCount",)),
    Fix("bag-retain", "BagRetain", r"ArrayList|Integer", package="libcommons-collections4-java",
        rewritten=(r"org\.apache\.commons\.collections4\.bag\.CollectionBag\.retainAll",)),
    Fix("list-subtract", "ListSubtract", r"ArrayList|Integer", package="libcommons-collections3-java",
        rewritten=(r"org\.apache\.commons\.collections\.ListUtils\.subtract",)),
    # A sum of longs is made of a new decimal number for each row; and numbers are looked for in a cache.
    Fix("h2-sum", "H2Queries", r"BigDecimal|ValueNumeric|Aggregate|Value\.cache", package="h2database",
        rewritten=(r"org\.h2\.expression\.aggregate\.AggregateDataDefault\.add",), warm_up_s=10),
    Fix("h2-cache", "H2Queries", r"BigDecimal|ValueNumeric|ValueBigint|Value\.cache", package="h2database",
        rewritten=(r"org\.h2\.value\.Value\.cache",), warm_up_s=10),
    # Codes are read bit by bit through a buffer's bookkeeping.
    Fix("bzip-bits", "BzipText", r"BitInputStream|BZip2CompressorInputStream", package="libcommons-compress-java", jars=("commons-compress",),
        rewritten=(r"org\.apache\.commons\.compress\.compressors\.bzip2\.BZip2CompressorInputStream\.getAndMoveToFrontDecode",)),
    # Lines are read byte by byte through a buffer's lock and bookkeeping.
    Fix("tomcat-lines", "TomcatPages", r"BufferedInputStream|TomcatPages\.line", rewritten=(r"TomcatPages\.line",), warm_up_s=10),
    # A loop that strides through an array; a map that is larger than what is put into it; a list that grows; iterators of sets.
    Fix("fft-stride", "StridedFft", r"StridedFft|double\[\]", rewritten=(r"StridedFft\.transform",)),
    Fix("map-rebuild", "MapRebuild", r"HashEntry|HashIterator|AbstractHashedMap",
        rewritten=(r"org\.apache\.commons\.collections4\.map\.(AbstractHashedMap|HashedMap).*",)),
    Fix("bloat-capacity", "MemoryBloat", r"MemoryBloat|float\[\]", rewritten=(r"MemoryBloat\.makeRoom",)),
    Fix("set-walk", "SetWalk", r"HashMap|HashIterator", rewritten=(r"SetWalk\.sum",)),
)
